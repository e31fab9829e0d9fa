// Training: a text, its vocabulary, and Adam's steps over its sentences in an order that the seed decides.

import { ToyBilm } from "./network.js";
import { randomNumbers, shuffled } from "./random.js";

export const [START, END, UNKNOWN] = [0, 1, 2];
const MOST_WORDS = 600;  // of the vocabulary; rarer words of a long text are <UNK>
const BATCH = 8;  // sentences of a step
const [DECAY1, DECAY2, TINY] = [0.9, 0.99, 1e-8];

export class Training {
  // `text`: a sentence a line, its words between spaces. `settings`: {seed, rate, dim, cells, layers}.
  constructor(text, settings) {
    this.settings = settings;
    this.sentences = text.split("\n").map((line) => line.split(/\s+/).filter(Boolean)).filter((words) => words.length);
    const counts = new Map();
    for (const word of this.sentences.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
    const words = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)).slice(0, MOST_WORDS);
    this.words = ["<S>", "</S>", "<UNK>", ...words];
    this.ids = new Map(this.words.map((word, id) => [word, id]));
    this.texts = this.sentences.map((sentence) => this.read(sentence));
    const { seed, dim, cells, layers } = settings;
    this.bilm = new ToyBilm({ words: this.words.length, dim, cells, layers }, seed);
    [this.first, this.second] = [new Float64Array(this.bilm.weights.length), new Float64Array(this.bilm.weights.length)];
    this.next = randomNumbers(seed + 1_000_003);
    [this.steps, this.order, this.curve] = [0, [], []];
  }

  // The ids of a sentence's words between the boundaries.
  read(words) {
    return [START, ...words.map((word) => this.ids.get(word) ?? UNKNOWN), END];
  }

  get epochs() {
    return (this.steps * BATCH) / this.texts.length;
  }

  // One step on the next sentences: the mean of -log p of each direction, which the curve keeps too.
  step() {
    if (this.order.length < Math.min(BATCH, this.texts.length)) this.order = [...this.order, ...shuffled(this.texts.length, this.next)];
    const batch = this.order.splice(0, BATCH).map((i) => this.texts[i]);
    const count = batch.reduce((sum, ids) => sum + ids.length - 1, 0);
    this.bilm.gradients.fill(0);
    const losses = batch.map((ids) => this.bilm.train(ids));
    const [forward, backward] = ["forward", "backward"].map((side) => losses.reduce((sum, loss) => sum + loss[side], 0) / count);
    this.#adam(1 / (2 * count));
    this.curve.push([forward, backward]);
    return { forward, backward };
  }

  // Adam (Kingma and Ba 2015) on the mean over the words of both directions.
  #adam(scale) {
    const { weights, gradients } = this.bilm, { first, second } = this;
    this.steps++;
    const rate = this.settings.rate * Math.sqrt(1 - DECAY2 ** this.steps) / (1 - DECAY1 ** this.steps);
    for (let i = 0; i < weights.length; i++) {
      const gradient = scale * gradients[i];
      first[i] += (1 - DECAY1) * (gradient - first[i]);
      second[i] += (1 - DECAY2) * (gradient * gradient - second[i]);
      weights[i] -= (rate * first[i]) / (Math.sqrt(second[i]) + TINY);
    }
  }

  // The uses of a word: where it stands and its vector there, at most `most` of them.
  uses(word, most = 60) {
    const found = [];
    for (const [row, sentence] of this.sentences.entries()) {
      if (!sentence.includes(word)) continue;
      const vectors = this.bilm.vectors(this.texts[row]);
      sentence.forEach((one, place) => one === word && found.push({ row, place, vector: vectors[place] }));
      if (found.length >= most) break;
    }
    return found.slice(0, most);
  }
}
