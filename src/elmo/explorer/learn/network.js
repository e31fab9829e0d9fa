// ToyBilm: the biLM of the paper in small, with the gradients of its loss. Words have vectors of their own in place of
// the char CNN; LSTMs of one or more layers read a sentence forwards and backwards; one softmax predicts the next word of
// either direction. Everything is float64 and nothing is batched, so that each line is an equation.

import { randomNumbers } from "./random.js";

const GATES = 4;  // input, forget, candidate, output

export class ToyBilm {
  // `sizes`: {words, dim, cells, layers}. Weights are uniform in ±0.1 √(3 / width), forget biases 1.
  constructor(sizes, seed) {
    this.sizes = sizes;
    const { words, dim, cells, layers } = sizes;
    const shapes = { vectors: [words, dim], softmax: [words, cells], softmaxBias: [words, 1] };
    for (const direction of ["forward", "backward"]) {
      for (let layer = 0; layer < layers; layer++) {
        shapes[`${direction}${layer}`] = [GATES * cells, (layer ? cells : dim) + cells];
        shapes[`${direction}${layer}Bias`] = [GATES * cells, 1];
      }
    }
    const count = Object.values(shapes).reduce((sum, [rows, columns]) => sum + rows * columns, 0);
    [this.weights, this.gradients] = [new Float64Array(count), new Float64Array(count)];
    [this.at, this.by] = [{}, {}];  // the weights and their gradients by name
    const next = randomNumbers(seed);
    let start = 0;
    for (const [name, [rows, columns]] of Object.entries(shapes)) {
      const end = start + rows * columns;
      this.at[name] = this.weights.subarray(start, end);
      this.by[name] = this.gradients.subarray(start, end);
      const bound = Math.sqrt(3 / columns) * (name === "vectors" ? 1 : 0.7);
      if (columns > 1) for (let i = start; i < end; i++) this.weights[i] = bound * (2 * next() - 1);
      else if (name !== "softmaxBias") this.weights.fill(1, start + cells, start + 2 * cells);
      start = end;
    }
  }

  // What a direction makes of word ids in the order in which it reads them: for each layer and step the gates, the
  // memory and the output, which above the first layer has the layer's input added.
  read(direction, ids) {
    const { dim, cells, layers } = this.sizes;
    const found = [];
    let inputs = ids.map((id) => this.at.vectors.subarray(id * dim, (id + 1) * dim));
    for (let layer = 0; layer < layers; layer++) {
      const [weight, bias] = [this.at[direction + layer], this.at[`${direction}${layer}Bias`]];
      let [hidden, memory] = [new Float64Array(cells), new Float64Array(cells)];
      const steps = inputs.map((input) => {
        const joined = join(input, hidden), gates = Float64Array.from(bias);
        addProduct(gates, weight, joined);
        for (let k = 0; k < GATES * cells; k++) gates[k] = k >= 2 * cells && k < 3 * cells ? Math.tanh(gates[k]) : sigmoid(gates[k]);
        const before = memory;
        memory = new Float64Array(cells);
        hidden = new Float64Array(cells);
        for (let k = 0; k < cells; k++) {
          memory[k] = gates[cells + k] * before[k] + gates[k] * gates[2 * cells + k];
          hidden[k] = gates[3 * cells + k] * Math.tanh(memory[k]);
        }
        const output = layer ? hidden.map((value, k) => value + input[k]) : hidden;
        return { joined, gates, before, memory, hidden, output };
      });
      found.push(steps);
      inputs = steps.map((step) => step.output);
    }
    return found;
  }

  // The probability of each word at a direction's output.
  probabilities(output) {
    const logits = Float64Array.from(this.at.softmaxBias);
    addProduct(logits, this.at.softmax, output);
    const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
    let sum = 0;
    for (let i = 0; i < logits.length; i++) sum += logits[i] = Math.exp(logits[i] - most);
    return logits.map((value) => value / sum);
  }

  // The sum of -log p of a sentence's words, each read from one side; `ids` have the boundaries. Adds its gradients.
  train(ids) {
    return { forward: this.#direction("forward", ids), backward: this.#direction("backward", [...ids].reverse()) };
  }

  #direction(direction, ids) {
    const [inputs, targets] = [ids.slice(0, -1), ids.slice(1)];
    const { cells, layers, dim } = this.sizes, found = this.read(direction, inputs);
    let loss = 0;
    let above = targets.map((target, t) => {  // the gradient of each step's output
      const { output } = found[layers - 1][t], scores = this.probabilities(output), gradient = new Float64Array(cells);
      loss -= Math.log(scores[target]);
      scores[target] -= 1;
      addOuter(this.by.softmax, scores, output);
      add(this.by.softmaxBias, scores);
      addTransposed(gradient, this.at.softmax, scores);
      return gradient;
    });
    for (let layer = layers - 1; layer >= 0; layer--) above = this.#layer(direction, layer, found[layer], above);
    inputs.forEach((id, t) => add(this.by.vectors.subarray(id * dim, (id + 1) * dim), above[t]));
    return loss;
  }

  // Back through a layer's steps, the last one first: the gradients of its inputs.
  #layer(direction, layer, steps, above) {
    const { cells } = this.sizes, name = direction + layer;
    const width = steps[0].joined.length - cells, below = [];
    let [ofHidden, ofMemory] = [new Float64Array(cells), new Float64Array(cells)];
    for (let t = steps.length - 1; t >= 0; t--) {
      const { joined, gates, before, memory } = steps[t], ofGates = new Float64Array(GATES * cells);
      for (let k = 0; k < cells; k++) {
        const [i, f, g, o] = [gates[k], gates[cells + k], gates[2 * cells + k], gates[3 * cells + k]];
        const bent = Math.tanh(memory[k]), hidden = above[t][k] + ofHidden[k];
        const inMemory = ofMemory[k] + hidden * o * (1 - bent * bent);
        ofGates[k] = inMemory * g * i * (1 - i);
        ofGates[cells + k] = inMemory * before[k] * f * (1 - f);
        ofGates[2 * cells + k] = inMemory * i * (1 - g * g);
        ofGates[3 * cells + k] = hidden * bent * o * (1 - o);
        ofMemory[k] = inMemory * f;
      }
      addOuter(this.by[name], ofGates, joined);
      add(this.by[`${name}Bias`], ofGates);
      const ofJoined = new Float64Array(joined.length);
      addTransposed(ofJoined, this.at[name], ofGates);
      ofHidden = ofJoined.subarray(width);
      below[t] = ofJoined.subarray(0, width);
      if (layer) add(below[t], above[t]);
    }
    return below;
  }

  // The vector of each word between the boundaries: the top layer's outputs of both directions, one after the other.
  vectors(ids) {
    const [forward, backward] = this.#tops(ids);
    return ids.slice(1, -1).map((_, i) => join(forward[i + 1].output, backward[ids.length - 2 - i].output));
  }

  // What each side expects at position `place` of `ids`, and what both together do: the product, made a distribution.
  gap(ids, place) {
    const [before, after] = this.#tops(ids);
    const [forward, backward] = [before[place - 1], after[ids.length - 2 - place]].map(({ output }) => this.probabilities(output));
    const both = forward.map((value, i) => value * backward[i]), sum = both.reduce((a, b) => a + b, 0);
    return { forward, backward, both: both.map((value) => value / sum) };
  }

  #tops(ids) {
    return [this.read("forward", ids).at(-1), this.read("backward", [...ids].reverse()).at(-1)];
  }
}

const sigmoid = (value) => 1 / (1 + Math.exp(-value));

function join(one, other) {
  const both = new Float64Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function add(sum, values) {
  for (let i = 0; i < sum.length; i++) sum[i] += values[i];
}

// sum += matrix · vector
function addProduct(sum, matrix, vector) {
  const width = vector.length;
  for (let row = 0; row < sum.length; row++) {
    let value = 0;
    for (let k = 0, at = row * width; k < width; k++) value += matrix[at + k] * vector[k];
    sum[row] += value;
  }
}

// sum += matrixᵀ · vector
function addTransposed(sum, matrix, vector) {
  const width = sum.length;
  for (let row = 0; row < vector.length; row++) {
    const factor = vector[row];
    for (let k = 0, at = row * width; k < width; k++) sum[k] += factor * matrix[at + k];
  }
}

// matrix += column · rowᵀ
function addOuter(matrix, column, row) {
  const width = row.length;
  for (let i = 0; i < column.length; i++) {
    const factor = column[i];
    for (let k = 0, at = i * width; k < width; k++) matrix[at + k] += factor * row[k];
  }
}
