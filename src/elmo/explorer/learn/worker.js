// The worker in which a toy biLM learns. It gets {begin: {text, settings}}, {run: true or false}, {step: true},
// {rate}, {look: {word, sentence, place, cell}}, what to show, and {seen: true} when a report is drawn; it sends {begun}
// once and {report} while it learns, never a second one before the first is drawn.

import { projected } from "./picture.js";
import { Training } from "./training.js";

const BUDGET = 100;  // milliseconds of steps between two reports
const [MOST_POINTS, LISTED] = [160, 5];  // of the curve; words of a list
let training, look, axes, isRunning = false, isSeen = true, timer;

onmessage = ({ data: { begin, run, step, rate, look: shown, seen } }) => {
  if (seen) return (isSeen = true);
  if (begin) start(begin);
  if (shown) look = shown;
  if (rate) training.settings.rate = rate;
  if (run !== undefined) isRunning = run;
  if (step) training.step();
  if (begin || shown || step) report();
  clearTimeout(timer);
  if (isRunning) timer = setTimeout(learn);
};

function start({ text, settings }) {
  training = new Training(text, settings);
  [axes, look] = [null, null];
  const { sentences, words, bilm } = training;
  postMessage({ begun: { sentences: sentences.length, tokens: sentences.flat().length, words: words.length, weights: bilm.weights.length } });
}

function learn() {
  const end = performance.now() + BUDGET;
  while (performance.now() < end) training.step();
  if (isSeen) report();
  timer = setTimeout(learn);
}

function report() {
  if (!look) return;
  const { steps, epochs } = training;
  isSeen = false;
  postMessage({ report: { steps, epochs, curve: curve(), gap: gap(), map: map(), gates: gates() } });
}

// The mean losses of both directions over equal stretches of the steps so far.
function curve() {
  const all = training.curve, stretch = Math.max(1, Math.ceil(all.length / MOST_POINTS)), found = [];
  for (let i = 0; i < all.length; i += stretch) {
    const part = all.slice(i, i + stretch);
    found.push([i + part.length / 2, ...[0, 1].map((side) => part.reduce((sum, one) => sum + one[side], 0) / part.length)]);
  }
  return found;
}

// The likeliest words of each side in the gap, and the probability of the word that stands there.
function gap() {
  const ids = training.read(look.sentence), found = training.bilm.gap(ids, look.place + 1), truth = ids[look.place + 1];
  const listed = (scores) => [...scores.keys()].sort((a, b) => scores[b] - scores[a]).slice(0, LISTED).map((id) => [training.words[id], scores[id]]);
  return Object.fromEntries(Object.entries(found).map(([side, scores]) => [side, { best: listed(scores), truth: scores[truth] }]));
}

function map() {
  const uses = training.uses(look.word);
  if (uses.length < 3) return null;
  const picture = projected(uses.map((use) => use.vector), axes);
  axes = picture.axes;
  return uses.map(({ row, place }, i) => ({ at: picture.points[i], tokens: training.sentences[row], place }));
}

// What a cell of the first layer does at each word, in the direction in which it reads: gates and memory.
function gates() {
  const ids = training.read(look.sentence), { cells } = training.bilm.sizes, { cell } = look;
  return training.bilm.read("forward", ids.slice(0, -1))[0].map(({ gates, memory }, t) => ({
    token: training.words[ids[t]], input: gates[cell], forget: gates[cells + cell], output: gates[3 * cells + cell], memory: memory[cell],
  }));
}
