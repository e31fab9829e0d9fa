// How much in a typed text is neither a word nor a mark of a sentence: elmo.text.first_look.plain_text.

import { BLANK } from "../../browser/tokenizer.js";
import { repr } from "./requests.js";

const OF_SENTENCES = new Set(".,;:!?…。，、！？：；（）؟؛،।–—-\"“”„«»‘’「」『』《》〈〉"), HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const NUMBER = /^[\p{Nd}.,:/-]+$/u, NUMBERING = new RegExp(`^\\(?\\p{Nd}[\\p{Nd}.,:/()${BLANK}-]*`, "u"), ENDS = new RegExp(`^[${BLANK}]+|(?<![${BLANK}])[${BLANK}]+$`, "gu");
const LETTER = "[\\p{L}\\p{N}\\p{M}]";
const TOKEN = new RegExp(`${LETTER}+(?:(?:['’.,·&\\-]|(?<=\\p{Nd})[:/](?=\\p{Nd}))${LETTER}+)*|([^\\p{L}\\p{N}\\p{M}${BLANK}])\\1*`, "gu");
const LINES = [
  ["have tabs between words", /\t/u],
  ["are strings as programs write them", /^(?:[\p{L}\p{N}_]+(['"]).*\1,?|(['"]).*\2,)$/u],
  ["have words of 40 letters or more", /(?<![\p{L}\p{N}_/-])[A-Za-z][A-Za-z-]{39}/u],
];
const LINES_MEASURED = 200, LENGTH_MEASURED = 10_000, FEWEST_TOKENS = 20, FEWEST_LINES = 4, MOST_ODD = 0.3, MOST_LINES = 0.5, LONGEST_EXAMPLE = 40;

// What shows that it holds more than sentences; null: nothing does.
export function whyNotPlain(text) {
  const lines = text.split("\n").map((line) => line.replace(ENDS, "").slice(0, LENGTH_MEASURED)).filter(Boolean).slice(0, LINES_MEASURED);
  const tokens = lines.flatMap((line) => (line.replace(NUMBERING, "") || line).match(TOKEN) ?? []), odd = tokens.filter(isOdd);
  if (tokens.length < FEWEST_TOKENS) return null;
  if (odd.length >= MOST_ODD * tokens.length) {
    return told(odd.length, tokens.length, "tokens are neither words nor marks of sentences", mostCommon(counted(odd)).slice(0, 3).map(([token]) => token).join(" "));
  }
  const most = Math.max(FEWEST_LINES, MOST_LINES * lines.length);
  for (const [what, pattern] of LINES) {
    const found = lines.filter((line) => pattern.test(line));
    if (found.length > most) return told(found.length, lines.length, `lines ${what}`, found[0]);
  }
  return null;
}

const isOdd = (token) => (HAS_LETTER_OR_DIGIT.test(token) ? NUMBER.test(token) : !OF_SENTENCES.has([...token][0]));
const told = (count, total, what, example) => `${percent(count / total)} of its ${what} (${repr([...example].slice(0, LONGEST_EXAMPLE).join(""))})`;

// Each with its number, in the order of their first ones.
export function counted(items) {
  const found = new Map();
  for (const item of items) found.set(item, (found.get(item) ?? 0) + 1);
  return found;
}

export const mostCommon = (counts) => [...counts].sort(([, a], [, b]) => b - a);

// As Python rounds: a half to the even digit.
export function percent(share, digits = 0) {
  const scaled = 100 * share * 10 ** digits;
  const rounded = scaled % 1 === 0.5 ? 2 * Math.round(scaled / 2) : Math.round(scaled);
  return `${(rounded / 10 ** digits).toFixed(digits)}%`;
}
