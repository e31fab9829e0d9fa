// Requests as the server reads them: the same fields, the same limits, and the same words for what makes no sense.

import { words } from "../../browser/tokenizer.js";

const MOST_TOKENS = 200, MOST_CHARACTERS = 50 * MOST_TOKENS;
const SELECTED = { tokens: ["str"], place: "int" };
// Of each route the fields in their order; a list is of what it holds, "?" begins what may be null.
const FIELDS = {
  neighbors: { model: "str", selected: SELECTED, count: "int", weights: ["?float"], noun: "?str" },
  occurrences: { model: "str", selected: [SELECTED], weights: ["?float"], limit: "int" },
  similarity: { model: "str", a: ["str"], b: ["str"], weights: ["?float"] },
  substitutes: { model: "str", selected: SELECTED, count: "int" },
  computation: { model: "str", selected: SELECTED },
  tokens: { text: "str", model: "?str" },
  text: { model: "str" },
};
const DEFAULTS = {
  neighbors: { count: 6, weights: null, noun: null }, occurrences: { weights: null, limit: 300 }, similarity: { weights: null },
  substitutes: { count: 10 }, computation: {}, tokens: { model: null }, text: {},
};
const LONE_SURROGATE = /\p{Cs}/u;

// What the server would refuse. `message`: what, with the values; why; the next step.
export class Refused extends Error {}

// The request with its defaults; Refused for other fields and types.
export function checkedRequest(route, request) {
  const problem = mismatch(request, FIELDS[route], "", DEFAULTS[route]);
  if (problem) {
    const where = problem.place ? problem.place.slice(1) : "the request";
    throw new Refused(`${where}: ${problem.reason}. The fields of this request are: ${Object.keys(FIELDS[route]).join(", ")}; /openapi.json has their types.`);
  }
  return { ...DEFAULTS[route], ...request };
}

function mismatch(value, kind, place, defaults = {}) {
  if (typeof kind === "string" || Array.isArray(kind)) {
    const isList = Array.isArray(kind), inner = isList ? kind[0] : kind;
    const isOptional = typeof inner === "string" && inner.startsWith("?");
    const plain = isOptional ? inner.slice(1) : inner, wanted = isList ? "array" : plain;
    const got = typeOf(value);
    if (isOptional && got === "null") return null;
    if (got !== wanted && !(wanted === "float" && got === "int")) return { place, reason: `Expected \`${wanted}${isOptional ? " | null" : ""}\`, got \`${got}\`` };
    return isList ? first(value.map((one, i) => () => mismatch(one, plain, `${place}[${i}]`))) : null;
  }
  if (typeOf(value) !== "object") return { place, reason: `Expected \`object\`, got \`${typeOf(value)}\`` };
  return first([
    ...Object.keys(value).map((name) => () => (Object.hasOwn(kind, name) ? mismatch(value[name], kind[name], `${place}.${name}`) : { place, reason: `Object contains unknown field \`${name}\`` })),
    ...Object.keys(kind).map((name) => () => (Object.hasOwn(value, name) || Object.hasOwn(defaults, name) ? null : { place, reason: `Object missing required field \`${name}\`` })),
  ]);
}

function first(checks) {
  for (const check of checks) {
    const found = check();
    if (found) return found;
  }
  return null;
}

function typeOf(value) {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
  return { string: "str", boolean: "bool" }[typeof value] ?? "object";
}

export function requireModel(name, models) {
  if (!Object.hasOwn(models, name)) throw new Refused(`there is no model ${repr([...name].slice(0, 100).join(""))} here. This page has: ${Object.keys(models).join(", ")}. Use one of these.`);
}

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

export function requireCount(count, most, name) {
  if (count < 1 || count > most) throw new Refused(`${name} must be 1 to ${most} (got ${count}).`);
}

export function requireNoun(noun, token) {
  if (noun && token.startsWith(noun)) return;
  const [a, b] = [noun, token].map((text) => repr([...text].slice(0, 100).join("")));
  throw new Refused(`the noun is ${a}, but the selected token ${b} does not begin with it. Send the token without its particles.`);
}

// Weights for the layers of an index.
export function requireWeights(weights, layers) {
  if (weights.length === layers && weights.every((one) => Number.isFinite(Math.fround(one))) && weights.some(Math.fround)) return;
  throw new Refused(`layer is ${listed(weights)}, but weights must be ${layers} finite numbers, one for each layer of the index, not all of them 0. Pass such weights, or the number of a layer.`);
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
