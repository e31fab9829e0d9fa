// When which token is read: sentences in rows of similar length, as src/elmo/engine/row_packing.py has it.

const MOST_ROWS = 120;
const TILE = 6; // rows that every kernel divides into whole tiles

/**
 * starts, lengths: the place of each sentence's first token and its tokens, in order of lengths, the longest first; none
 * is empty. -> {alive, places, begins, ends, sentences}, as layer.h has them; without begins each row is a sentence.
 */
export function schedule(starts, lengths, isBackward) {
  const rows = numRows(lengths);
  const place = (sentence, step) => starts[sentence] + (isBackward ? lengths[sentence] - 1 - step : step);
  const order = pack(lengths, rows);
  const queues = order.map((sentences) => sentences.map((sentence) => [sentence, 0]));
  const [alive, places, begins, ends] = [[], [], [], []];
  for (let running = rows; ; ) {
    while (running > 0 && queues[running - 1].length === 0) running -= 1;
    if (running === 0) break;
    alive.push(running);
    for (let row = 0; row < running; row += 1) {
      const now = queues[row][0];
      const [sentence, step] = now;
      places.push(place(sentence, step));
      begins.push(step === 0 ? sentence : -1);
      now[1] += 1;
      const isLast = now[1] === lengths[sentence];
      ends.push(isLast ? sentence : -1);
      if (isLast) queues[row].shift();
    }
  }
  const turns = rows === lengths.length ? {} : { begins, ends };
  return { alive, places, sentences: lengths.length, ...turns };
}

/** Rows with which the longest sentence alone decides the number of steps. */
function numRows(lengths) {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const fitting = Math.ceil(total / lengths[0]);
  return Math.min(lengths.length, TILE * Math.ceil(fitting / TILE), MOST_ROWS);
}

/** The sentences of each row: the longest first, each to the row with the fewest tokens so far. The longest row first. */
function pack(lengths, rows) {
  const made = Array.from({ length: rows }, () => ({ tokens: 0, sentences: [] }));
  lengths.forEach((length, sentence) => {
    let least = made[0];
    for (const row of made) if (row.tokens < least.tokens) least = row;
    least.tokens += length;
    least.sentences.push(sentence);
  });
  return made.sort((a, b) => b.tokens - a.tokens).map((row) => row.sentences);
}
