// What is refused of the page's requests, which an address or a typed text can cause.

import { words } from "../../browser/tokenizer.js";

const MOST_TOKENS = 200, MOST_CHARACTERS = 50 * MOST_TOKENS;
const LONE_SURROGATE = /\p{Cs}/u;

// `message`: what is wrong, with the values; why; the next step.
export class Refused extends Error {}

export function requireTokens(tokens) {
  if (tokens.length < 1 || tokens.length > MOST_TOKENS) {
    throw new Refused(`the sentence has ${tokens.length} tokens, but the page shows 1 to ${MOST_TOKENS}. Write a shorter one; for a corpus use 'elmo embed'.`);
  }
  if (tokens.some((token) => words(token)[0] !== token || LONE_SURROGATE.test(token))) {
    throw new Refused("a token is empty, or contains a space or a lone surrogate. Send words without spaces.");
  }
}

export function requireSelected({ tokens, place }) {
  requireTokens(tokens);
  if (place < 0 || place >= tokens.length) {
    throw new Refused(`place is ${place}, but the sentence has ${tokens.length} tokens. Use 0 to ${tokens.length - 1}.`);
  }
}

// Weights for the layers of an index.
export function requireWeights(weights, layers) {
  const largest = Math.max(...weights.map((one) => Math.abs(Math.fround(one))));
  if (weights.length === layers && largest > Math.fround(1e-9) && largest < 1e9) return;
  throw new Refused(`layer is ${listed(weights)}, but weights must be ${layers} finite numbers, one for each layer of the index, the largest between 1e-9 and 1e9. Pass such weights, or the number of a layer.`);
}

// Weights for a sum of a sentence's layers.
export function requireSum(weights, layers) {
  if (weights.length !== layers) throw new Refused(`layers has ${weights.length} weights, but the model has ${layers} layers. Give one weight for each, the token layer's first.`);
  if (weights.some((one) => Math.abs(one) > 1e30)) throw new Refused(`layers is ${listed(weights)}, but a weight above 1e+30 would make sums that float32 can't hold. Check how the weights were computed.`);
}

// A typed text, whose tokens the page could show.
export function requireText(text) {
  if (LONE_SURROGATE.test(text)) throw new Refused("text has one half of a surrogate pair (\\ud800 to \\udfff), which is not a character. Send both halves, or leave it out.");
  const characters = text.length > MOST_CHARACTERS ? [...text].length : 0, grouped = (number) => number.toLocaleString("en-US");
  if (characters > MOST_CHARACTERS) {
    throw new Refused(`the text has ${grouped(characters)} characters, but the page reads ${grouped(MOST_CHARACTERS)} at most. Write a shorter sentence; for a corpus use 'elmo embed'.`);
  }
}

// A string as Python's repr writes it.
export function repr(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text.replace(/[\\'"]|[\p{C}\p{Z}]/gu, (one) => {
    if (one === " " || (one !== "\\" && /['"]/.test(one) && one !== quote)) return one;
    if (one === "\\" || one === quote) return `\\${one}`;
    const named = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[one];
    if (named) return named;
    const code = one.codePointAt(0), digits = code.toString(16);
    return code < 256 ? `\\x${digits.padStart(2, "0")}` : code < 65536 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
  });
  return quote + inside + quote;
}

const listed = (numbers) => `[${numbers.map(floatRepr).join(", ")}]`;

function floatRepr(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}
