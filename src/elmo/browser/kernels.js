// The engine's C kernels, compiled to WebAssembly (src/elmo/ops/native/wasm/page.c). Every number that reaches them goes
// through here. Whatever allocates may move the memory, so views of it are made anew each time.

import { ElmoError } from "./errors.js";

export const KIND = { float32: 0, bfloat16: 1, storedInt8: 2, int8: 3 };
const TYPES = { F32: 0, F16: 1, U16: 2, I8: 3 };
const PANEL = 64;
const CHUNK = { [KIND.float32]: 512, [KIND.bfloat16]: 2048, [KIND.storedInt8]: 2048, [KIND.int8]: 2048 };
const MOST_PARTS = 64; // filter widths, and highway layers

export class Kernels {
  static async compile(bytes) {
    if (typeof WebAssembly !== "object") {
      throw new ElmoError("there is no WebAssembly here, but elmo.js computes with it. Use node 18 or a newer browser.");
    }
    try {
      const { instance } = await WebAssembly.instantiate(bytes, {});
      return new Kernels(instance.exports);
    } catch (error) {
      throw new ElmoError(
        `elmo.wasm can't be compiled (${error.message}): the file is damaged; or this is a browser before 2021 (Safari: ` +
          "2023), without SIMD; or the page's policy forbids it. Allow 'wasm-unsafe-eval' in its script-src.",
      );
    }
  }

  constructor(functions) {
    this.functions = functions;
  }

  /** What `use` computes, after which all memory that it took is free again. */
  scratch(use) {
    const before = this.functions.mark();
    try {
      return use();
    } finally {
      this.functions.release(before);
    }
  }

  room(bytes) {
    return this.#there(bytes < 2 ** 32 ? this.functions.room(bytes) : 0, bytes);
  }

  #there(place, bytes) {
    if (place) return place >>> 0;
    const megabytes = Math.round(this.functions.memory.buffer.byteLength / 1e6);
    throw new ElmoError(
      `there is no memory${bytes ? ` for ${bytes} bytes` : ""} beside the ${megabytes} MB that are taken. Pass fewer ` +
        "or shorter sentences at a time, or close other pages.",
    );
  }

  bytes(place, count) {
    return new Uint8Array(this.functions.memory.buffer, place, count);
  }

  floats(place, count) {
    return new Float32Array(this.functions.memory.buffer, place, count);
  }

  put(bytes) {
    const place = this.room(bytes.length);
    this.bytes(place, bytes.length).set(bytes);
    return place;
  }

  putWords(values) {
    const place = this.room(4 * values.length);
    new Int32Array(this.functions.memory.buffer, place, values.length).set(values);
    return place;
  }

  /** A tensor's values as float32, in memory that stays. */
  widened(tensor) {
    const count = tensor.shape.reduce((product, side) => product * side, 1);
    const rows = tensor.steps ? tensor.shape[0] : 1;
    const to = this.room(4 * count);
    this.scratch(() => {
      const [from, steps] = this.#stored(tensor);
      this.functions.widen(TYPES[tensor.type], from, steps, rows, count / rows, to);
    });
    return to;
  }

  #stored(tensor) {
    return [this.put(tensor.bytes), tensor.steps ? this.put(tensor.steps) : 0];
  }

  /** A weight (outer, ...) in panels. `cells`: of the layer whose gates it has. `width`: of filters. */
  weight(kind, tensor, { cells = 0, width = 1, chunk = CHUNK[kind] } = {}) {
    const outer = tensor.shape[0];
    const inner = tensor.shape.slice(1).reduce((product, side) => product * side, 1);
    // Above the stored weight, which is given back, the panels would be lost: they are laid out below it.
    const group = kind === KIND.float32 ? 1 : kind === KIND.bfloat16 ? 2 : 4;
    const columns = PANEL * Math.ceil((cells ? PANEL * Math.ceil(cells / 16) : outer) / PANEL);
    const needed = 4 * columns * Math.ceil(inner / group) + 4 * columns + 8 * inner + 1024;
    const gap = this.room(needed);
    const [from, steps] = this.#stored(tensor);
    this.functions.release(gap);
    const packed = this.functions.pack(kind, TYPES[tensor.type], from, steps, outer, inner, cells, width, chunk);
    if (gap + needed < this.functions.mark()) throw new Error("the panels are larger than their room");
    return this.#there(packed);
  }

  bias(tensor, { cells = 0, forget = 0 } = {}) {
    const outer = tensor.shape[0];
    const gap = this.room(4 * (PANEL * Math.ceil(cells / 16) + outer + PANEL) + 64);
    const from = this.widened(tensor);
    this.functions.release(gap);
    return this.#there(this.functions.pack_bias(from, outer, cells, forget));
  }

  layer(input, recurrent, projection, bias, { dim, size, cells, cellClip, projectionClip }) {
    const clip = (value) => value ?? Infinity;
    return this.#there(
      this.functions.layer(input, recurrent, projection, bias, dim, size, cells, clip(cellClip), clip(projectionClip)),
    );
  }

  /** The token encoder. `filters`: [{width, number, weight}]; `highways`: [{transform, transformBias, gate, gateBias}]. */
  encoder(embedding, filters, filterBias, highways, projection, { alphabet, dim, characters, features, size, squashes }) {
    if (filters.length > MOST_PARTS || highways.length > MOST_PARTS) {
      throw new ElmoError(
        `the model has ${filters.length} widths of filters and ${highways.length} highway layers, but elmo.js reads ` +
          `up to ${MOST_PARTS} of each. Use elmo in Python.`,
      );
    }
    const f = this.functions;
    const made = this.#there(
      f.encoder(embedding, alphabet, dim, characters, filterBias, features, filters.length, highways.length, size, squashes),
    );
    filters.forEach(({ width, number, weight }, index) => f.set_filters(made, index, width, number, weight));
    highways.forEach((one, index) => f.set_highway(made, index, one.transform, one.transformBias, one.gate, one.gateBias));
    if (projection) f.set_projection(made, projection.weight, projection.bias);
    return made;
  }

  /** ids: Int32Array (count, characters), all below the alphabet's size -> Float32Array (count, size). */
  encode(kind, encoder, ids, count, size) {
    return this.scratch(() => {
      const out = this.room(4 * count * size);
      if (this.functions.encode(kind, encoder, this.putWords(ids), count, out)) this.#there(0);
      return this.floats(out, count * size).slice();
    });
  }

  /** Reads one layer in place; `steps`: of schedule.js. */
  readLayer(kind, layer, steps, inputs, outputs, stride, skips) {
    this.scratch(() => {
      const { alive, places, begins, ends, sentences } = steps;
      const [from, at] = [this.putWords(alive), this.putWords(places)];
      const turns = begins ? [this.putWords(begins), this.putWords(ends)] : [0, 0];
      const read = [kind, layer, from, alive.length, at, places.length, ...turns, sentences];
      if (this.functions.read_layer(...read, inputs, outputs, stride, skips)) this.#there(0);
    });
  }

  /** row: Float32Array (inner) -> Float32Array (words): its product with a weight, plus bias. */
  logits(kind, weight, bias, row, words) {
    return this.scratch(() => {
      const out = this.room(4 * (words + PANEL));
      const from = this.room(4 * row.length);
      this.floats(from, row.length).set(row);
      if (this.functions.logits(kind, weight, bias, from, row.length, out)) this.#there(0);
      return this.floats(out, words).slice();
    });
  }
}
