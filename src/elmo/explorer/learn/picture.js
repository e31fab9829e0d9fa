// Two dimensions of many vectors: the two directions in which they differ most (principal components).

const ROUNDS = 60;

// `before`: the axes of an earlier picture of the same words, which the new ones follow, so that points drift and don't jump.
export function projected(vectors, before = null) {
  const width = vectors[0].length, mean = new Float64Array(width);
  for (const vector of vectors) for (let k = 0; k < width; k++) mean[k] += vector[k] / vectors.length;
  const centered = vectors.map((vector) => vector.map((value, k) => value - mean[k]));
  const axes = [];
  for (let one = 0; one < 2; one++) {
    let axis = Float64Array.from({ length: width }, (_, k) => before?.[one][k] || Math.cos(k * (one + 1)));
    for (let round = 0; round < ROUNDS; round++) {
      const next = new Float64Array(width);
      for (const vector of centered) {
        const share = dot(vector, axis);
        for (let k = 0; k < width; k++) next[k] += share * vector[k];
      }
      if (one) remove(next, axes[0]);
      const length = Math.sqrt(dot(next, next));
      if (length < 1e-12) break;
      axis = next.map((value) => value / length);
    }
    axes.push(axis);
  }
  return { axes, points: centered.map((vector) => axes.map((axis) => dot(vector, axis))) };
}

function dot(one, other) {
  let sum = 0;
  for (let k = 0; k < one.length; k++) sum += one[k] * other[k];
  return sum;
}

function remove(vector, axis) {
  const share = dot(vector, axis);
  for (let k = 0; k < vector.length; k++) vector[k] -= share * axis[k];
}
