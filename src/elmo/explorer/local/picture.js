// Vectors on a plane, as elmo.analysis.neighbors.occurrence_map draws them: two principal components, turned onto the
// layer before, with figures of how far the picture can be trusted.

import { dot, stirred } from "./text_index.js";

const NEIGHBORS = 5;
// Below this sum of squares the vectors differ by rounding alone.
const ROUNDING = 1e-5;
const BLOCK = 12, MOST_TURNS = 500, PRECISE = 1e-9;

// One picture for each list of unit vectors, which are the same tokens in each; the first `marks` are the marked ones.
export function pictures(layers, marks) {
  let before = null;
  return layers.map((vectors) => {
    const products = productsOf(vectors), cosines = products.map((row) => Float32Array.from(row));
    let { points, variance } = plane(products);
    if (before && variance !== null && before.variance !== null) points = turnedOnto(points, before.points);
    const nearest = highest(cosines), shown = highest(points.map((a) => points.map((b) => -((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2))));
    const kept = nearest.reduce((sum, list, i) => sum + list.filter((j) => shown[i].includes(j)).length, 0) / nearest.length;
    before = { points, variance };
    return { points, variance, kept, nearest, to_marks: cosines.map((row) => [...row.slice(0, marks)]) };
  });
}

// The first two principal components and the share of the variance that they hold; null where all vectors are the same.
// Of the products of centered vectors with each other, which follow from those of the vectors.
function plane(products) {
  const size = products.length, means = products.map((row) => row.reduce((sum, value) => sum + value, 0) / size);
  const mean = means.reduce((sum, value) => sum + value, 0) / size;
  const centered = products.map((row, i) => row.map((value, j) => value - means[i] - means[j] + mean));
  const total = centered.reduce((sum, row, i) => sum + row[i], 0);
  if (total <= ROUNDING * size) return { points: products.map(() => [0, 0]), variance: null };
  const axes = largest(centered, 2);
  const points = products.map((_, i) => [0, 1].map((a) => (axes[a] ? Math.sqrt(Math.max(0, axes[a].value)) * axes[a].vector[i] : 0)));
  return { points, variance: axes.reduce((sum, { value }) => sum + Math.max(0, value), 0) / total };
}

function productsOf(vectors) {
  const products = vectors.map(() => new Float64Array(vectors.length));
  vectors.forEach((a, i) => { for (let j = 0; j <= i; j++) products[i][j] = products[j][i] = dot(a, 0, vectors[j], 0, a.length); });
  return products;
}

// The largest eigenvalues of a symmetric matrix with their vectors, by iterating on a block of them. The sign of a vector
// is free: its entry that is farthest from 0 is positive, as in Python.
function largest(matrix, count) {
  const size = matrix.length, width = Math.min(BLOCK, size);
  let block = orthonormal(Array.from({ length: width }, (_, j) => Float64Array.from({ length: size }, (_, i) => (stirred(i * width + j) / 2 ** 31) - 1)));
  let values = [];
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const products = block.map((vector) => times(matrix, vector));
    const { values: found, vectors: turns } = eigen(block.map((a) => products.map((b) => along(a, b))));
    const combined = (list, weights) => Float64Array.from({ length: size }, (_, i) => list.reduce((sum, vector, j) => sum + weights[j] * vector[i], 0));
    const ritz = turns.map((weights) => combined(block, weights)), images = turns.map((weights) => combined(products, weights));
    values = found;
    const rest = (j) => Math.sqrt(images[j].reduce((sum, value, i) => sum + (value - found[j] * ritz[j][i]) ** 2, 0));
    block = ritz;
    if (Array.from({ length: Math.min(count, width) }, (_, j) => rest(j)).every((one) => one <= PRECISE * found[0])) break;
    block = orthonormal(images);
  }
  return block.slice(0, count).map((vector, j) => ({ value: values[j], vector: signed(vector) }));
}

// `dot` of doubles, by itself so that both are compiled for one kind of array.
function along(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

const times = (matrix, vector) => Float64Array.from(matrix, (row) => along(row, vector));

function signed(vector) {
  const most = vector.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
  return most < 0 ? vector.map((value) => -value) : vector;
}

// Gram and Schmidt, twice for precision; a vector that the others hold already becomes zeros.
function orthonormal(vectors) {
  const done = [];
  for (const vector of vectors) {
    const rest = Float64Array.from(vector), before = Math.sqrt(along(rest, rest));
    for (let again = 0; again < 2; again++) for (const one of done) {
      const shared = along(rest, one);
      for (let i = 0; i < rest.length; i++) rest[i] -= shared * one[i];
    }
    const left = Math.sqrt(along(rest, rest));
    done.push(left > 1e-13 * before ? rest.map((value) => value / left) : rest.fill(0));
  }
  return done;
}

// All eigenvalues of a small symmetric matrix, the largest first, with their vectors (Jacobi's method).
function eigen(matrix) {
  const size = matrix.length, a = matrix.map((row) => [...row]);
  const vectors = a.map((_, i) => a.map((_, j) => Number(i === j)));
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0, scale = 0;
    for (let p = 0; p < size; p++) for (let q = 0; q < size; q++) p === q ? (scale += a[p][p] ** 2) : (off += a[p][q] ** 2);
    if (off <= 1e-32 * scale) break;
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) {
      if (a[p][q] === 0) continue;
      const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
      const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1)), c = 1 / Math.sqrt(t * t + 1), s = t * c;
      for (let k = 0; k < size; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < size; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      for (const row of vectors) [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]];
    }
  }
  const order = [...a.keys()].sort((i, j) => a[j][j] - a[i][i]);
  return { values: order.map((i) => a[i][i]), vectors: order.map((i) => vectors.map((row) => row[i])) };
}

// Turned or mirrored as a whole so that each point is as near as possible to its place in `earlier` (Procrustes): of the
// products' matrix the orthogonal part, a turn or a mirror, whichever fits better.
function turnedOnto(points, earlier) {
  const [[a, b], [c, d]] = [0, 1].map((i) => [0, 1].map((j) => points.reduce((sum, point, n) => sum + point[i] * earlier[n][j], 0)));
  const [turnX, turnY, mirrorX, mirrorY] = [a + d, b - c, a - d, b + c];
  const turn = Math.hypot(turnX, turnY), mirror = Math.hypot(mirrorX, mirrorY);
  if (turn + mirror === 0) return points;
  const [x, y] = turn >= mirror ? [turnX / turn, turnY / turn] : [mirrorX / mirror, mirrorY / mirror];
  return points.map(([p, q]) => (turn >= mirror ? [p * x - q * y, p * y + q * x] : [p * x + q * y, p * y - q * x]));
}

// For each row the places of the highest values but its own, the highest first; of equal ones the first.
const highest = (values) => values.map((row, own) => {
  const best = [];
  row.forEach((value, i) => {
    if (i === own || (best.length === NEIGHBORS && value <= row[best.at(-1)])) return;
    const place = best.findIndex((j) => row[j] < value);
    best.splice(place < 0 ? best.length : place, 0, i);
    if (best.length > NEIGHBORS) best.pop();
  });
  return best;
});

// The weighted sum of a token's layers.
export const mixed = (layers, weights) => layers[0].map((_, k) => layers.reduce((sum, layer, i) => sum + weights[i] * layer[k], 0));
