// How the vectors of one token are computed: the numbers of every step, from its bytes to its layers. The steps and
// equations are those of elmo.reference, from the tensors of a model; sums are in double precision. Of the features the
// largest are shown, of other long vectors the first numbers, with four significant digits.

import { BOUNDARIES, MARKS, bytesOf, characterIds } from "../../browser/characters.js";
import { STEPS, readTensors } from "../../browser/safetensors.js";
import { widened } from "./text_index.js";

const SHOWN = 32, MOST_READ = 24, CUTS = [0, 1, 2, 3, 4, 6, 8], BEST = 3;

// model.config: the architecture of config.json; model.tensor: as `tensorsOf` makes it; model.words: the size of the
// vocabulary, or null.
export function computation(model, tokens, place) {
  const { config } = model, most = config.max_characters_per_token;
  const readings = [], halves = [];
  const made = new Map();
  const encodingOf = (token) => {
    if (!made.has(token)) made.set(token, encoded(model, idsOf(token, most)));
    return made.get(token);
  };
  for (const direction of config.direction === "both" ? ["forward", "backward"] : [config.direction]) {
    const turned = direction === "backward";
    const before = turned ? tokens.slice(place + 1).reverse() : tokens.slice(0, place);
    const x = [turned ? "</S>" : "<S>", ...before, tokens[place]].map((token) => encodingOf(token).vector);
    const { layers, outputs } = read(model, direction, x);
    const cuts = CUTS.filter((words) => words < before.length).map((words) => {
      const cut = read(model, direction, [x[0], ...x.slice(x.length - 1 - words)]).outputs;
      return { words, cosines: cut.map((output, layer) => cosine(output, outputs[layer])) };
    });
    readings.push({ direction, tokens: x.length, layers, cuts });
    halves.push([x.at(-1), ...outputs]);
  }
  const { vector: _, ...steps } = encodingOf(tokens[place]);
  return {
    sizes: {
      characters: most, character_dim: config.character_dim, features: config.filters.reduce((sum, [, count]) => sum + count, 0),
      projection: config.projection_size, cells: config.cell_size, words: model.words, skips: config.skip_connections,
      activation: config.activation, forget_bias: config.forget_bias, cell_clip: config.cell_clip, projection_clip: config.projection_clip,
    },
    ...lettersOf(tokens[place], idsOf(tokens[place], most)),
    ...steps, readings,
    layers: halves[0].map((_, layer) => halves.flatMap((half) => row(half[layer]))),
  };
}

// A model.safetensors -> name -> {shape, data, steps}. `steps`: what the whole numbers of each row are multiplied by, or
// null. The largest tensors stay as they are in the file.
export function tensorsOf(bytes) {
  const { tensors } = readTensors(bytes, "model.safetensors"), made = new Map();
  return (name) => {
    if (!tensors.has(name)) throw new Error(`model.safetensors has no tensor ${name}: it is the file of another model. Export the page again.`);
    if (!made.has(name)) {
      const { type, shape } = tensors.get(name);
      made.set(name, { shape, data: valuesOf(tensors.get(name)), steps: type === "I8" ? valuesOf(tensors.get(name + STEPS)) : null });
    }
    return made.get(name);
  };
}

function valuesOf({ type, bytes }) {
  if (type === "F32" && bytes.byteOffset % 4 === 0) return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const { buffer } = type === "I8" ? bytes : bytes.slice();  // aligned
  if (type === "I8") return new Int8Array(buffer, bytes.byteOffset, bytes.length);
  if (type === "F32") return new Float32Array(buffer);
  const halves = new Uint16Array(buffer);
  return type === "U16" ? new Float32Array(new Uint32Array(halves).map((half) => half << 16).buffer) : widened(halves);  // U16: bfloat16
}

const idsOf = (token, most) => [...characterIds([token], most)];

function lettersOf(token, ids) {
  const end = ids.indexOf(MARKS.endWord), isBoundary = BOUNDARIES.includes(token);
  const letters = [{ text: null, ids: [MARKS.beginWord] }];
  let at = 1;
  for (const text of isBoundary ? [token] : token) {
    const ofLetter = ids.slice(at, Math.min(end, at + bytesOf(text).length));
    if (ofLetter.length) letters.push({ text, ids: ofLetter });
    at += ofLetter.length;
  }
  letters.push({ text: null, ids: [MARKS.endWord] });
  return { letters, cut: isBoundary ? 0 : bytesOf(token).length - (end - 1) };
}

// y_i = f(b_i + max_t sum_u W_i[u] · e_{t+u});  T = σ(W_T x + b_T);  y = T * relu(W_H x + b_H) + (1 - T) * x
function encoded({ config, tensor }, ids) {
  const dim = config.character_dim, table = tensor("token_encoder.character_embedding").data;
  const used = ids.indexOf(MARKS.endWord) + 1;
  const e = ids.map((id) => table.subarray(id * dim, (id + 1) * dim));
  const covered = Array(used).fill(0), filters = [];
  const all = [];
  config.filters.forEach(([width, number], which) => {
    const { data: W } = tensor(`token_encoder.convolutions.${which}.weight`), { data: b } = tensor(`token_encoder.convolutions.${which}.bias`);
    const windows = Math.min(used + 1, ids.length - width + 1), found = [];
    for (let i = 0; i < number; i++) {
      const outputs = [];
      let start = 0;
      for (let t = 0; t < windows; t++) {
        let sum = 0;
        for (let d = 0; d < dim; d++) for (let u = 0; u < width; u++) sum += W[(i * dim + d) * width + u] * e[t + u][d];
        outputs.push(sum);
        if (sum > outputs[start]) start = t;
      }
      const y = b[i] + outputs[start];
      const value = config.activation === "relu" ? Math.max(y, 0) : Math.tanh(y);
      if (value > 0) for (let t = start; t < Math.min(used, start + width); t++) covered[t]++;
      found.push({ index: i, start, value, outputs });
    }
    all.push(...found.map((filter) => filter.value));
    const best = [...found].sort((a, b) => b.value - a.value).slice(0, BEST).map(({ index, start, value, outputs }) =>
      ({ index, start, value: short(value), profile: row(outputs), bias: short(b[index]) }));
    filters.push({ width, number, positive: found.filter((filter) => filter.value > 0).length, best });
  });
  let x = Float64Array.from(all);
  const shown = [...x.keys()].sort((a, b) => x[b] - x[a]).slice(0, SHOWN).sort((a, b) => a - b);
  const chosen = (values) => row(shown.map((i) => values[i])), features = chosen(x), highways = [];
  for (let layer = 0; layer < config.num_highway; layer++) {
    const T = affine(tensor, `token_encoder.highways.${layer}.gate`, x).map(sigmoid);
    const H = affine(tensor, `token_encoder.highways.${layer}.transform`, x).map((value) => Math.max(value, 0));
    const y = T.map((gate, i) => gate * H[i] + (1 - gate) * x[i]);
    const histogram = Array(10).fill(0);
    for (const gate of T) histogram[Math.min(9, Math.floor(10 * gate))]++;
    const [before, gate, transformed, after] = [x, T, H, y].map(chosen);
    highways.push({ gate_mean: short(mean(T)), histogram, before, gate, transformed, after });
    x = y;
  }
  const vector = config.token_projection ? affine(tensor, "token_encoder.projection", x) : x;
  return { characters: e.slice(0, used + 1).map((one) => row(one)), filters, covered, shown, features, highways, vector };
}

// i, f, o, j = W_x x + W_h h + b;  c' = clip(σ(f + forget_bias) * c + σ(i) * tanh(j));  h' = clip(W_P (σ(o) * tanh(c')))
function read({ config, tensor }, direction, x) {
  const cells = config.cell_size, size = config.projection_size, layers = [], outputs = [];
  for (let layer = 0; layer < config.num_layers; layer++) {
    const name = `${direction}_lstm.layers.${layer}.`;
    const [W_x, W_h, b] = ["input_weight", "recurrent_weight", "bias"].map((part) => tensor(name + part));
    const W_P = size < cells ? tensor(`${name}projection_weight`) : null;
    let h = new Float64Array(size), cell = null;
    const c = new Float64Array(cells);
    // c is the sum over all tokens of what each has written and the forget gates have kept since.
    const written = [], reads = [], y = [];
    x.forEach((vector, k) => {
      const gates = sums(W_h, h, sums(W_x, vector, Float64Array.from(b.data)));
      const [i, f, o, j] = [0, 1, 2, 3].map((part) => gates.subarray(part * cells, (part + 1) * cells));
      const m = new Float64Array(cells), mine = new Float64Array(cells);
      let best = -1;
      for (let n = 0; n < cells; n++) {
        i[n] = sigmoid(i[n]);
        f[n] = sigmoid(f[n] + config.forget_bias);
        o[n] = sigmoid(o[n]);
        j[n] = Math.tanh(j[n]);
        const unclipped = f[n] * c[n] + i[n] * j[n], after = clip(unclipped, config.cell_clip);
        const scale = unclipped ? after / unclipped : 1;
        for (const earlier of written) earlier[n] *= f[n] * scale;
        mine[n] = i[n] * j[n] * scale;
        const shownMost = o[n] * Math.min(Math.abs(f[n] * c[n]), Math.abs(i[n] * j[n]));
        if (shownMost > best) {
          best = shownMost;
          cell = { index: n, forget: short(f[n]), before: short(c[n]), input: short(i[n]), candidate: short(j[n]), after: short(after), output: short(o[n]) };
        }
        c[n] = after;
        m[n] = o[n] * Math.tanh(after);
      }
      written.push(mine);
      h = W_P ? sums(W_P, m, new Float64Array(size)).map((value) => clip(value, config.projection_clip)) : m;
      y.push(layer > 0 && config.skip_connections ? h.map((value, n) => value + vector[n]) : h);
      reads.push({ input: short(mean(i)), forget: short(mean(f)), output: short(mean(o)), share: 0, state: row(h.slice(0, SHOWN)) });
    });
    const amounts = written.map((one) => one.reduce((sum, value) => sum + Math.abs(value), 0));
    const all = Math.max(1e-30, amounts.reduce((sum, value) => sum + value, 0));
    reads.forEach((one, k) => { one.share = short(amounts[k] / all); });
    const earlier = short(amounts.slice(0, Math.max(0, x.length - MOST_READ)).reduce((sum, value) => sum + value, 0) / all);
    layers.push({ reads: reads.slice(-MOST_READ), earlier, cell, incoming: row(x.at(-1).slice(0, SHOWN)) });
    outputs.push(y.at(-1));
    x = y;
  }
  return { layers, outputs };
}

// Adds W vector to `result`.
function sums({ data, steps }, vector, result) {
  const size = vector.length;
  for (let r = 0; r < result.length; r++) {
    let a = 0, b = 0, n = 0, at = r * size;
    for (; n + 1 < size; n += 2, at += 2) {
      a += data[at] * vector[n];
      b += data[at + 1] * vector[n + 1];
    }
    const sum = a + b + (n < size ? data[at] * vector[n] : 0);
    result[r] += steps ? sum * steps[r] : sum;
  }
  return result;
}

const affine = (tensor, name, x) => sums(tensor(`${name}.weight`), x, Float64Array.from(tensor(`${name}.bias`).data));
const sigmoid = (value) => (Math.tanh(value / 2) + 1) / 2;
const clip = (value, bound) => (bound === null ? value : Math.max(-bound, Math.min(bound, value)));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const row = (values) => Array.from(values, short);

// With four significant digits.
function short(value) {
  return Number(value.toPrecision(4));
}

function cosine(a, b) {
  const dot = (p, q) => p.reduce((sum, value, i) => sum + value * q[i], 0);
  return short(dot(a, b) / Math.max(1e-30, Math.sqrt(dot(a, a) * dot(b, b))));
}
