// The network: a model's tensors, laid out for the kernels once -> the layers of sentences.

import { ALPHABET, BOUNDARIES, characterIds } from "./characters.js";
import { ElmoError } from "./errors.js";
import { KIND } from "./kernels.js";
import { STEPS, withSteps } from "./safetensors.js";
import { schedule } from "./schedule.js";

const ENCODER_CHUNK = 32; // of float32: short sums round less (src/elmo/engine/native.py)
const REMEMBERED_BYTES = 16e6; // of token vectors
const MOST_TOKENS = 4096; // of a batch, unless one sentence is longer

export class Network {
  /** `exact`: weights and vectors as the model has them; otherwise int8, as Embedder(dtype="int8"). */
  constructor(kernels, { config, directions }, tensors, exact) {
    this.kernels = kernels;
    this.config = config;
    this.size = config.projection_size;
    this.dimensions = this.size * directions.length;
    this.layers = config.num_layers + 1;
    this.remembered = new Map();
    const source = new Source(tensors);
    this.encoder = layEncoder(kernels, config, source, exact);
    this.directions = directions.map((name) => ({ name, layers: layLayers(kernels, config, source, name, exact) }));
    source.refuseRest();
  }

  /** Of each sentence Float32Array (layers, tokens, dimensions), from zero states. */
  embed(sentences) {
    const found = sentences.map(() => new Float32Array(0));
    const byLength = sentences.map((_, index) => index).sort((a, b) => sentences[b].length - sentences[a].length);
    let batch = [];
    let tokens = 0;
    const finish = () => {
      if (batch.length) this.#batch(batch.map((index) => sentences[index]), (at, data) => (found[batch[at]] = data));
      batch = [];
      tokens = 0;
    };
    for (const index of byLength) {
      const own = sentences[index].length;
      if (own === 0) continue;
      if (tokens + own + 2 > MOST_TOKENS) finish();
      batch.push(index);
      tokens += own + 2;
    }
    finish();
    return found;
  }

  /** Of each direction that the model has, its top layer at one place of a sentence, in which <S> is 0. */
  outputs(sentence, places) {
    return this.#read([sentence], ({ at, layers, total }) => {
      const top = at + 4 * (layers - 1) * total * this.dimensions;
      const found = this.directions.map(({ name }, index) => {
        const begin = top + 4 * (places[name] * this.dimensions + index * this.size);
        return [name, this.kernels.floats(begin, this.size).slice()];
      });
      return Object.fromEntries(found);
    });
  }

  #batch(sentences, give) {
    this.#read(sentences, ({ at, layers, total }) => {
      const values = this.kernels.floats(at, layers * total * this.dimensions);
      let begin = 0;
      sentences.forEach((sentence, index) => {
        const count = sentence.length * this.dimensions;
        const data = new Float32Array(layers * count);
        for (let layer = 0; layer < layers; layer += 1) {
          const from = (layer * total + begin + 1) * this.dimensions;
          data.set(values.subarray(from, from + count), layer * count);
        }
        give(index, data);
        begin += sentence.length + 2;
      });
    });
  }

  /** `sentences`: the longest first. All layers lie in memory, (layers, tokens with boundaries, dimensions), for `use`. */
  #read(sentences, use) {
    const { kernels, dimensions, layers } = this;
    const bounded = sentences.flatMap((sentence) => [BOUNDARIES[0], ...sentence, BOUNDARIES[1]]);
    const vectors = this.#tokenVectors(bounded);
    const total = bounded.length;
    return kernels.scratch(() => {
      const at = kernels.room(4 * layers * total * dimensions);
      const inputs = kernels.floats(at, total * dimensions);
      bounded.forEach((token, index) => {
        const vector = vectors.get(token);
        for (let from = 0; from < dimensions; from += this.size) inputs.set(vector, index * dimensions + from);
      });
      this.directions.forEach(({ name, layers: stack }, index) => {
        const steps = this.#schedule(sentences, name === "backward");
        stack.forEach(({ kind, place, skips }, layer) => {
          const from = at + 4 * (layer * total * dimensions + index * this.size);
          kernels.readLayer(kind, place, steps, from, from + 4 * total * dimensions, dimensions, skips);
        });
      });
      return use({ at, layers, total });
    });
  }

  /** Each direction begins at a boundary. It needn't read the other one: nobody asks for what comes behind it. */
  #schedule(sentences, isBackward) {
    let next = 0;
    const starts = sentences.map((sentence) => (next += sentence.length + 2) - sentence.length - 2 + Number(isBackward));
    return schedule(starts, sentences.map((sentence) => sentence.length + 1), isBackward);
  }

  /** Distinct tokens -> their vectors. Those of the last tokens are remembered. */
  #tokenVectors(tokens) {
    const { config, remembered } = this;
    const vectors = new Map();
    const missing = [];
    for (const token of new Set(tokens)) {
      const known = remembered.get(token);
      if (known) vectors.set(token, known);
      else missing.push(token);
    }
    const ids = characterIds(missing, config.max_characters_per_token);
    const { kind, place } = this.encoder;
    const made = missing.length ? this.kernels.encode(kind, place, ids, missing.length, this.size) : [];
    missing.forEach((token, index) => vectors.set(token, made.slice(index * this.size, (index + 1) * this.size)));
    for (const [token, vector] of vectors) {
      remembered.delete(token);
      remembered.set(token, vector);
    }
    for (const oldest of remembered.keys()) {
      if (4 * this.size * remembered.size <= REMEMBERED_BYTES) break;
      remembered.delete(oldest);
    }
    return vectors;
  }
}

/** The tensors of a file, each taken once and with the shape that the config asks for. */
export class Source {
  constructor(tensors, file = "model.safetensors", askedBy = "config.json") {
    this.tensors = tensors;
    this.file = file;
    this.askedBy = askedBy;
    this.left = new Set(tensors.keys());
  }

  take(name, ...shape) {
    const found = this.tensors.get(name);
    if (!found || found.shape.join() !== shape.join()) {
      throw new ElmoError(
        `${this.file}: the tensor ${name} ${found ? `has the shape (${found.shape})` : "is missing"}, but ${this.askedBy} ` +
          `asks for the shape (${shape}): they belong to different models. Pass the files of one model.`,
      );
    }
    this.left.delete(name);
    if (found.type === "I8" && this.take(name + STEPS, shape[0], 1).type !== "F32") {
      throw new ElmoError(`${this.file}: the steps of ${name} aren't float32: the file is damaged. Get the model again.`);
    }
    return withSteps(this.tensors, name);
  }

  refuseRest() {
    const [name] = this.left;
    if (name === undefined) return;
    throw new ElmoError(
      `${this.file}: the tensor ${name} is not part of the model that config.json describes: they belong to ` +
        "different models. Pass the files of one model.",
    );
  }
}

function layEncoder(kernels, config, source, exact) {
  const { character_dim: dim, filters: widths, max_characters_per_token: characters, projection_size: size } = config;
  const features = widths.reduce((sum, [, number]) => sum + number, 0);
  const take = (name, ...shape) => source.take(`token_encoder.${name}`, ...shape);
  const weights = widths.map(([width, number], index) => take(`convolutions.${index}.weight`, number, dim, width));
  const linear = (name, outer) => ({ weight: take(`${name}.weight`, outer, features), bias: take(`${name}.bias`, outer) });
  const highways = Array.from({ length: config.num_highway }, (_, index) =>
    ["transform", "gate"].map((side) => linear(`highways.${index}.${side}`, features)),
  );
  const projection = config.token_projection ? linear("projection", size) : null;
  const all = [...weights, ...highways.flat().map(({ weight }) => weight), ...(projection ? [projection.weight] : [])];
  // For int8 the token encoder is bfloat16, whose windows must begin at whole pairs.
  const isNarrow = dim % 2 === 0 && (!exact || all.every(({ type }) => type === "U16"));
  const kind = isNarrow ? KIND.bfloat16 : KIND.float32;
  const chunk = isNarrow ? undefined : ENCODER_CHUNK;
  const laid = ({ weight, bias }) => ({ weight: kernels.weight(kind, weight, { chunk }), bias: kernels.bias(bias) });
  const filterBias = joined(kernels, widths.map(([, number], index) => take(`convolutions.${index}.bias`, number)));
  const place = kernels.encoder(
    kernels.widened(take("character_embedding", ALPHABET, dim)),
    widths.map(([width, number], index) => ({
      width,
      number,
      weight: kernels.weight(kind, weights[index], { width, chunk }),
    })),
    filterBias,
    highways.map(([transform, gate]) => {
      const [first, second] = [laid(transform), laid(gate)];
      return { transform: first.weight, transformBias: first.bias, gate: second.weight, gateBias: second.bias };
    }),
    projection && laid(projection),
    { alphabet: ALPHABET, dim, characters, features, size, squashes: config.activation === "tanh" ? 1 : 0 },
  );
  return { kind, place };
}

/** Some biases, one after the other: the filters' are read together. */
function joined(kernels, biases) {
  const values = biases.map((bias) => kernels.scratch(() => kernels.floats(kernels.widened(bias), bias.shape[0]).slice()));
  const count = values.reduce((sum, part) => sum + part.length, 0);
  const place = kernels.room(4 * count);
  let at = 0;
  for (const part of values) {
    kernels.floats(place + 4 * at, part.length).set(part);
    at += part.length;
  }
  return place;
}

function layLayers(kernels, config, source, direction, exact) {
  const { cell_size: cells, projection_size: size, forget_bias: forget } = config;
  return Array.from({ length: config.num_layers }, (_, index) => {
    const take = (name, ...shape) => source.take(`${direction}_lstm.layers.${index}.${name}`, ...shape);
    const gates = [take("input_weight", 4 * cells, size), take("recurrent_weight", 4 * cells, size)];
    const projection = size < cells ? take("projection_weight", size, cells) : null;
    const stored = [...gates, ...(projection ? [projection] : [])];
    const kind = !exact ? KIND.int8 : stored.every(({ type }) => type === "I8") ? KIND.storedInt8 : KIND.float32;
    const [input, recurrent] = gates.map((weight) => kernels.weight(kind, weight, { cells }));
    const place = kernels.layer(
      input,
      recurrent,
      projection ? kernels.weight(kind, projection) : 0,
      kernels.bias(take("bias", 4 * cells), { cells, forget }),
      { dim: size, size, cells, cellClip: config.cell_clip, projectionClip: config.projection_clip },
    );
    return { kind, place, skips: config.skip_connections && index > 0 ? 1 : 0 };
  });
}
