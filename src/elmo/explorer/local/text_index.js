// TextIndex: the vectors of every token of a text, by layer, searched exactly: what elmo.analysis.neighbors.ContextIndex
// is on disk. Vectors have length 1 and half precision, so that the numbers are the same; their lengths are kept beside.
//
// Sentences are embedded when they are needed, and a few at a time in between: a map needs those of a few words, the nearest
// words need all. Until then a search finds what is nearest in the part that was read.

import { Refused } from "./requests.js";

// Sentences that are embedded at once.
export const BATCH = 4;
// Rows that are made float32 at a time, in an index of more numbers than are kept so.
const BLOCK = 4096, MOST_IN_MEMORY = 1 << 27;
const TINY = 1.1754943508222875e-38;

export class TextIndex {
  // `text`: a tokenized sentence on each line. `embed(sentences)`: the vectors of each or their promise, {tokens, data} in the order
  // (layers, tokens, dimensions).
  constructor(text, layers, dim, embed) {
    this.sentences = text.split("\n").filter(Boolean).map((line) => line.split(" "));
    this.lines = this.sentences.map((tokens) => tokens.join(" "));
    this.layers = layers;
    this.dim = dim;
    this.embed = embed;
    this.starts = [0];
    for (const tokens of this.sentences) this.starts.push(this.starts.at(-1) + tokens.length);
    this.size = this.starts.at(-1);
    this.rowsOf = new Map();
    this.tokenWords = new Int32Array(this.size);
    let token = 0;
    for (const word of this.sentences.flat()) {
      if (!this.rowsOf.has(word)) this.rowsOf.set(word, this.rowsOf.size);
      this.tokenWords[token++] = this.rowsOf.get(word);
    }
    this.words = [...this.rowsOf.keys()];
    this.sentenceOf = new Int32Array(this.size);
    this.sentences.forEach((tokens, i) => this.sentenceOf.fill(i, this.starts[i], this.starts[i + 1]));
    this.lengths = Array.from({ length: layers }, () => new Float32Array(this.size));
    // Layer 0 sees the word alone and has a row for each word, the others one for each token.
    this.halves = Array.from({ length: layers }, (_, layer) => new Uint16Array(this.rowsIn(layer) * dim));
    this.isSmall = this.halves.reduce((sum, { length }) => sum + length, 0) <= MOST_IN_MEMORY;
    this.isFilled = new Uint8Array(this.sentences.length);
    this.inMemory = [];
    this.products = null;
  }

  rowsIn(layer) {
    return layer === 0 ? this.words.length : this.size;
  }

  get isComplete() {
    return this.isFilled.every(Boolean);
  }

  // How much of the text is filled, 0 to 1.
  get share() {
    return this.isFilled.reduce((sum, is) => sum + is, 0) / this.isFilled.length;
  }

  // Embeds those of these sentences (default: all, in an order that mixes what the text has together) that are missing.
  // `turn`: called between them, and waited for.
  async fill(sentences = drawn(this.sentences.length), turn = async () => {}) {
    const missing = [...sentences].filter((i) => !this.isFilled[i]);
    for (let at = 0; at < missing.length; at += BATCH) {
      const batch = missing.slice(at, at + BATCH).filter((i) => !this.isFilled[i]);
      const found = batch.length ? await this.embed(batch.map((i) => this.sentences[i])) : [];
      batch.forEach((i, k) => this.keep(i, found[k]));
      await turn();
    }
  }

  keep(sentence, { tokens, data }) {
    const { dim } = this;
    for (let layer = 0; layer < this.layers; layer++) for (let i = 0; i < tokens; i++) {
      const token = this.starts[sentence] + i, from = (layer * tokens + i) * dim;
      const length = lengthOf(data, from, dim), to = (layer === 0 ? this.tokenWords[token] : token) * dim;
      this.lengths[layer][token] = length;
      for (let k = 0; k < dim; k++) this.halves[layer][to + k] = halfOf(Math.fround(data[from + k] / Math.max(length, TINY)));
    }
    this.isFilled[sentence] = 1;
  }

  // The whole, for a place that keeps it, and from there. A record of another text or of other sizes is not taken.
  get record() {
    return { text: this.lines.join("\n"), lengths: this.lengths, halves: this.halves };
  }

  restore(record) {
    if (record?.text !== this.lines.join("\n") || record.halves?.length !== this.layers || record.halves.some((rows, layer) => rows.length !== this.halves[layer].length)) return false;
    [this.lengths, this.halves] = [record.lengths, record.halves];
    this.isFilled.fill(1);
    return true;
  }

  // The tokens that are exactly these words, in the order of the text.
  occurrences(words) {
    const rows = new Set(words.map((word) => this.rowsOf.get(word)));
    return [...this.tokenWords.keys()].filter((token) => rows.has(this.tokenWords[token]));
  }

  place(token) {
    const sentence = this.sentenceOf[token];
    return { sentence, tokens: this.sentences[sentence], position: token - this.starts[sentence] };
  }

  // A token's unit vector in a layer, or that of its layers' weighted sum.
  vector(token, layer) {
    const { dim } = this, vector = new Float32Array(dim);
    if (typeof layer === "number") {
      const from = (layer === 0 ? this.tokenWords[token] : token) * dim;
      for (let k = 0; k < dim; k++) vector[k] = HALVES[this.halves[layer][from + k]];
      return vector;
    }
    layer.forEach((weight, i) => {
      const scale = weight * this.lengths[i][token], of = this.vector(token, i);
      for (let k = 0; k < dim; k++) vector[k] += scale * of[k];
    });
    return unit(vector);
  }

  // The nearest tokens by `cosines`, nearest first, at most one of a sentence; equal sentences count as one. `which`:
  // "same": the occurrences of `words`; "other": other words, each with its nearest occurrence.
  search(cosines, { count, words, which, notSentence }) {
    const rows = new Set(words.map((word) => this.rowsOf.get(word)));
    const isSame = which === "same";
    const tokens = [...this.tokenWords.keys()].filter((token) => rows.has(this.tokenWords[token]) === isSame && this.isFilled[this.sentenceOf[token]]);
    tokens.sort((a, b) => cosines[b] - cosines[a] || a - b);
    const hits = [], seenWords = new Set(), seenLines = new Set([notSentence]);
    for (const token of tokens) {
      if (hits.length === count) break;
      const { sentence, tokens: around, position } = this.place(token);
      if (seenLines.has(this.lines[sentence]) || (!isSame && seenWords.has(around[position]))) continue;
      seenWords.add(around[position]);
      seenLines.add(this.lines[sentence]);
      hits.push({ tokens: around, position, cosine: cosines[token] });
    }
    return hits;
  }

  // The cosine of every token with a vector, in a layer or in a mix of them.
  cosines(vector, layer) {
    const unitVector = direction(vector);
    const found = new Float32Array(this.size);
    if (typeof layer === "number") {
      const products = this.times(unitVector, layer);
      return layer === 0 ? found.map((_, token) => products[this.tokenWords[token]]) : products;
    }
    const products = layer.map((_, i) => this.times(unitVector, i)), own = this.ownProducts();
    for (let token = 0; token < this.size; token++) {
      let dot = 0, square = 0, at = token * this.layers * this.layers;
      layer.forEach((weight, i) => {
        dot += weight * this.lengths[i][token] * products[i][i === 0 ? this.tokenWords[token] : token];
        layer.forEach((other) => { square += weight * other * own[at++]; });
      });
      found[token] = dot / Math.sqrt(Math.max(square, TINY));
    }
    return found;
  }

  times(unitVector, layer) {
    const halves = this.halves[layer], { dim } = this, found = new Float32Array(this.rowsIn(layer));
    if (this.isComplete && this.isSmall) this.inMemory[layer] ??= widened(halves);
    for (let first = 0; first < found.length; first += BLOCK) {
      const last = Math.min(found.length, first + BLOCK), inMemory = this.inMemory[layer];
      const rows = inMemory ?? widened(halves.subarray(first * dim, last * dim)), start = inMemory ? 0 : first;
      for (let row = first; row < last; row++) found[row] = dot(rows, (row - start) * dim, unitVector, 0, dim);
    }
    return found;
  }

  // The products of each token's layers with each other, which no weight changes.
  ownProducts() {
    if (this.products) return this.products;
    const products = new Float32Array(this.size * this.layers * this.layers);
    let at = 0;
    for (let token = 0; token < this.size; token++) {
      const vectors = Array.from({ length: this.layers }, (_, layer) => this.vector(token, layer));
      vectors.forEach((a, i) => vectors.forEach((b, j) => {
        products[at++] = this.lengths[i][token] * this.lengths[j][token] * dot(a, 0, b, 0, this.dim);
      }));
    }
    if (this.isComplete) this.products = products;
    return products;
  }
}

export function dot(a, from, b, start, size) {
  // Four sums, so that no addition waits for the one before.
  let one = 0, two = 0, three = 0, four = 0, k = 0;
  for (; k + 4 <= size; k += 4) {
    one += a[from + k] * b[start + k];
    two += a[from + k + 1] * b[start + k + 1];
    three += a[from + k + 2] * b[start + k + 2];
    four += a[from + k + 3] * b[start + k + 3];
  }
  for (; k < size; k++) one += a[from + k] * b[start + k];
  return one + two + three + four;
}

const lengthOf = (data, from, size) => Math.fround(Math.sqrt(dot(data, from, data, from, size)));

// Scaled to length 1; zeros stay zeros.
export function unit(vector) {
  const length = lengthOf(vector, 0, vector.length);
  return length > 0 ? vector.map((value) => value / length) : vector;
}

function direction(vector) {
  if (!vector.every(Number.isFinite)) throw new Refused("the vector is not finite (NaN or inf). Pass one that a model gave.");
  return unit(vector);
}

// `count` of the numbers below `size`, drawn in the same way in Python: those whose bits, stirred, are the smallest.
// Without `count` all, in the order of these bits.
export function drawn(size, count) {
  const order = Array.from({ length: size }, (_, i) => [stirred(i), i]).sort(([a], [b]) => a - b);
  const numbers = order.slice(0, count).map(([, i]) => i);
  return count === undefined ? numbers : numbers.sort((a, b) => a - b);
}

export function stirred(value) {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

const SINGLE = new Float32Array(1), BITS = new Uint32Array(SINGLE.buffer);
const MARK = 2 ** 52;  // added and taken away, it rounds to whole numbers, halves to even

// The bits of a number of size 1 at most in half precision, rounded to even.
export function halfOf(value) {
  SINGLE[0] = value;
  const sign = (BITS[0] >>> 16) & 0x8000, size = BITS[0] & 0x7fffffff;
  if (size < 0x38800000) return sign | (Math.abs(value) * 2 ** 24 + MARK - MARK);
  return sign | ((size + 0xfff + ((size >>> 13) & 1) - 0x38000000) >>> 13);
}

// Numbers of half precision, by their bits.
export function widened(halves) {
  const values = new Float32Array(halves.length);
  for (let i = 0; i < values.length; i++) values[i] = HALVES[halves[i]];
  return values;
}

const HALVES = Float32Array.from({ length: 1 << 16 }, (_, half) => {
  const exponent = (half >>> 10) & 31, fraction = half & 1023;
  return (half & 0x8000 ? -1 : 1) * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
});
