// The words that each direction's language model expects in a place, as src/elmo/lm/substitutes.py computes them.

import { BOUNDARIES } from "./characters.js";
import { ElmoError } from "./errors.js";
import { KIND } from "./kernels.js";
import { Source } from "./network.js";
import { BLANK } from "./tokenizer.js";

const UNKNOWN = "<UNK>";
const BEGINNING_MARK = "\u2060\u22ef"; // ends an entry that stands for all tokens with this beginning
const SKIPPED_LINE = "!!!MAXTERMID";
const AROUND = new RegExp(`^[${BLANK}]+|(?<![${BLANK}])[${BLANK}]+$`, "g"); // what Python's str.strip takes

export class Softmax {
  /** `tensors`: of softmax.safetensors; `vocabulary`: the bytes of vocab.txt. */
  constructor(network, tensors, vocabulary) {
    this.network = network;
    if (tensors.has("clusters.0.weight")) {
      throw new ElmoError(
        "softmax.safetensors: it is an adaptive softmax, but elmo.js reads full ones. Use elmo in Python for its " +
          "substitutes; vectors don't need it.",
      );
    }
    this.words = readVocabulary(vocabulary);
    this.special = [...BOUNDARIES, UNKNOWN].map((word) => this.words.indexOf(word));
    if (this.special.includes(-1)) {
      throw new ElmoError(
        `vocab.txt: there is no ${[...BOUNDARIES, UNKNOWN][this.special.indexOf(-1)]}, which language models predict for ` +
          "boundaries and unknown tokens. Get the model again.",
      );
    }
    const source = new Source(tensors, "softmax.safetensors", "vocab.txt");
    const [weight, bias] = [source.take("weight", this.words.length, network.size), source.take("bias", this.words.length)];
    source.refuseRest();
    this.kind = weight.type === "I8" ? KIND.storedInt8 : KIND.float32;
    this.weight = network.kernels.weight(this.kind, weight);
    this.bias = network.kernels.bias(bias);
    this.ids = new Map(this.words.map((word, id) => [word, id]));
  }

  /** {forward, backward, both} -> {best, probability, rank}; of the directions those that the model has. */
  substitutes(tokens, place, count) {
    // With the boundaries around, the token's place is place + 1: each direction predicts it from the one before.
    const outputs = this.network.outputs(tokens, { forward: place, backward: place + 2 });
    const logs = Object.fromEntries(Object.entries(outputs).map(([name, row]) => [name, this.#logProbabilities(row)]));
    const directions = Object.values(logs);
    for (const values of directions) for (const id of this.special) values[id] = -Infinity;
    logs.both = directions.length > 1 ? logSoftmax(directions[0].map((value, id) => value + directions[1][id])) : directions[0];
    return Object.fromEntries(
      Object.entries(logs).map(([name, values]) => [name, this.#prediction(values.map(Math.exp), tokens[place], count)]),
    );
  }

  #logProbabilities(row) {
    const { kernels } = this.network;
    return logSoftmax(Float64Array.from(kernels.logits(this.kind, this.weight, this.bias, row, this.words.length)));
  }

  #prediction(probabilities, word, count) {
    const likely = best(probabilities, count).map((id) => [this.words[id], probabilities[id]]);
    const id = this.ids.get(word);
    if (id === undefined || [...BOUNDARIES, UNKNOWN].includes(word) || isBeginning(word)) {
      return { best: likely, probability: null, rank: null };
    }
    const own = probabilities[id];
    return { best: likely, probability: own, rank: probabilities.reduce((rank, one) => rank + (one >= own ? 1 : 0), 0) };
  }
}

function logSoftmax(values) {
  const largest = values.reduce((a, b) => (b > a ? b : a), -Infinity);
  const sum = values.reduce((total, value) => total + Math.exp(value - largest), 0);
  return values.map((value) => value - largest - Math.log(sum));
}

/** The ids of the `count` largest that aren't 0, the largest first, of equal ones the first. */
function best(probabilities, count) {
  const found = [];
  probabilities.forEach((value, id) => {
    if (!(value > 0) || (found.length === count && value <= probabilities[found[count - 1]])) return;
    let at = found.length;
    while (at > 0 && probabilities[found[at - 1]] < value) at -= 1;
    found.splice(at, 0, id);
    if (found.length > count) found.pop();
  });
  return found;
}

const isBeginning = (entry) => entry.length > BEGINNING_MARK.length && entry.endsWith(BEGINNING_MARK);

/** The words of a vocab.txt, one a line, as src/elmo/text/word_list.py reads it. */
export function readVocabulary(bytes) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ElmoError("vocab.txt: isn't UTF-8: it is damaged or of another program. Get the model again.");
  }
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
  return lines.map((line) => line.replace(AROUND, "")).filter((line) => line !== SKIPPED_LINE);
}
