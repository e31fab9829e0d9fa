// Random numbers that a seed decides, the same in every browser (xorshift of 32 bits, Marsaglia 2003).

export function randomNumbers(seed) {
  let state = (Math.imul(seed + 1, 2654435769) ^ 0x9e3779b9) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

// The numbers below `count` in a random order.
export function shuffled(count, next) {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const other = Math.floor(next() * (i + 1));
    [order[i], order[other]] = [order[other], order[i]];
  }
  return order;
}
