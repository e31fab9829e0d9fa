// A typed text as a model reads it, and what in it would make the model's vectors poor: elmo.text.reading.as_trained and
// elmo.text.first_look for one text.

import { BLANK, SPECIAL_TOKEN, tokenize, words } from "../../browser/tokenizer.js";
import { counted, mostCommon, percent, whyNotPlain } from "./plain_text.js";
import { repr } from "./requests.js";

const QUOTES = { "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u2033": '"', "\u00ab": '"', "\u00bb": '"' };
const DASHES = { "\u2013": "--", "\u2014": "--", "\u2015": "--", "\u2212": "-" };
const OTHERS = { "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2026": "..." };

const COMMON_WORDS = 1000, LEAST_SHARE_OF_COMMON = 0.12, FEWEST_WORDS = 30, FEWEST_LETTERS = 8, LEAST_SHARE_OF_SCRIPT = 0.05;
const HAS_LETTER = /\p{L}/u, IS_WORD = /^\p{L}+$/u, IS_ASCII = /^[\x00-\x7f]*$/;
const BROKEN = new RegExp(`\\u00ad[${BLANK}]+(?=[\\p{L}\\p{N}_])`, "gu");
// The first word of a letter's name in Unicode, which JavaScript doesn't have, by its script.
const SCRIPTS = {
  Latin: "LATIN", Hangul: "HANGUL", Han: "CJK", Hiragana: "HIRAGANA", Katakana: "KATAKANA", Cyrillic: "CYRILLIC", Greek: "GREEK", Arabic: "ARABIC", Hebrew: "HEBREW",
  Devanagari: "DEVANAGARI", Bengali: "BENGALI", Gurmukhi: "GURMUKHI", Gujarati: "GUJARATI", Oriya: "ORIYA", Tamil: "TAMIL", Telugu: "TELUGU", Kannada: "KANNADA",
  Malayalam: "MALAYALAM", Sinhala: "SINHALA", Thai: "THAI", Lao: "LAO", Tibetan: "TIBETAN", Myanmar: "MYANMAR", Khmer: "KHMER", Mongolian: "MONGOLIAN",
  Georgian: "GEORGIAN", Armenian: "ARMENIAN", Ethiopic: "ETHIOPIC", Cherokee: "CHEROKEE", Syriac: "SYRIAC", Thaana: "THAANA", Bopomofo: "BOPOMOFO",
};
const FORMS = [
  ["FULLWIDTH", /[\uff01-\uff5e]/u], ["HALFWIDTH", /[\uff65-\uffdc]/u], ["MATHEMATICAL", /[\u{1d400}-\u{1d7ff}]/u],
  ["IDEOGRAPHIC", /[\u3005\u3006]/u], ["MODIFIER", /[\u02b0-\u02ff\u1d2c-\u1d6a]/u],
];
const OTHER = "of another script"; // the name of a script that isn't listed
const LETTERS = [...FORMS, ...Object.entries(SCRIPTS).map(([script, name]) => [name, new RegExp(`^\\p{Script=${script}}$`, "u")])];

// A model's vocabulary, the most frequent words first, as texts are compared with it; empty: nothing is known.
export class FirstLook {
  constructor(vocabulary) {
    this.vocabulary = vocabulary;
    this.words = new Set(vocabulary);
    this.marks = plainMarks(vocabulary);
    this.scripts = scriptsOf(vocabulary);
    this.common = new Set(vocabulary.filter((word) => IS_WORD.test(word)).slice(0, COMMON_WORDS));
  }

  // The tokens that the model reads.
  tokens(text) {
    const found = tokenize(composed(text.replaceAll("\n", " ")));
    return found.every((token) => IS_ASCII.test(token)) ? found : found.map((token) => replaced(composed(token), this.marks));
  }

  // What would make their vectors poor, or is read differently from how it is written.
  warnings(text, tokens) {
    const raw = words(text);
    return [
      onComposition(raw), this.onMarks(raw), this.onSpecialTokens(raw), onForm(text), this.onLanguage(tokens.map(composed)),
    ].filter(Boolean);
  }

  onMarks(raw) {
    const counts = counted([...raw.map(composed).join("")].filter((mark) => plain(mark, this.marks) !== mark));
    if (!counts.size) return null;
    const shown = (mark) => (/[\p{C}\p{Z}]/u.test(mark) ? `U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}` : mark);
    const read = mostCommon(counts).slice(0, 12).map(([mark]) => `${shown(mark)} as ${plain(mark, this.marks) || "nothing"}`).join(", ");
    return `the text has typographic marks or letters that the model's vocabulary doesn't have. They are read as its training text has them: ${read}. Set plain_quotes to false (--no-plain-quotes) to leave them as they are.`;
  }

  onSpecialTokens(raw) {
    const found = raw.flatMap((word) => word.match(SPECIAL_TOKEN) ?? []).filter((token) => !this.words.has(token));
    if (!found.length) return null;
    const unknown = found.find((token) => token.toLowerCase().includes("unk"));
    const remedy = unknown ? `Write the word itself for ${unknown}, or <UNK> if it is lost; remove others` : "Remove them";
    return `the text has ${[...new Set(found)].join(", ")}, special tokens of other models. ELMo doesn't know them and reads them as words: each gets a vector, and changes those of the words beside it. ${remedy}; padding and sentence boundaries are added as they are needed.`;
  }

  onLanguage(tokens) {
    const lettered = tokens.filter((token) => HAS_LETTER.test(token));
    const why = this.vocabulary.length ? this.byScript(lettered) ?? this.byCommonWords(lettered) : null;
    if (!why) return null;
    return `the text is not in the model's language: ${why}. Its vectors will be poor. Use a model of its language; 'elmo models' lists them.`;
  }

  byScript(tokens) {
    const scripts = scriptsOf(tokens), total = sum(scripts), ownTotal = sum(this.scripts);
    if (total < FEWEST_LETTERS) return null;
    const [script, count] = mostCommon(scripts)[0], own = (this.scripts.get(script) ?? 0) / ownTotal;
    if (count / total < 0.5 || !ownTotal || own >= LEAST_SHARE_OF_SCRIPT) return null;
    const name = script === OTHER ? OTHER : `${script[0]}${script.slice(1).toLowerCase()}`;
    return `${percent(count / total)} of its letters are ${name}, of the letters in the model's vocabulary ${percent(own, 1)}`;
  }

  byCommonWords(tokens) {
    if (tokens.length < FEWEST_WORDS || this.vocabulary.length < 2 * COMMON_WORDS) return null;
    const share = tokens.filter((word) => this.common.has(word) || this.common.has(word.toLowerCase())).length / tokens.length;
    if (share >= LEAST_SHARE_OF_COMMON) return null;
    return `${percent(share)} of its words are among the 1,000 most frequent words of the model's vocabulary; in the model's language far more would be`;
  }
}

function onComposition(raw) {
  const found = raw.filter((word) => composed(word) !== word);
  if (!found.length) return null;
  return `the text has ${found.length.toLocaleString("en")} words, such as ${repr(composed(found[0]))}, that are not in Unicode's composed form (NFC), which models are trained on. It is read in NFC.`;
}

function onForm(text) {
  const why = whyNotPlain(text);
  return why && `the text is read as text, but ${why}. ELMo reads tags, marks and numbers as words. If it is a table or has columns, name its form, such as --format tsv --field 2; else write its text into a file of its own (docs/text-files.md).`;
}

const composed = (text) => text.replace(BROKEN, "\u00ad").normalize("NFC");
const replaced = (token, marks) => [...token].map((mark) => plain(mark, marks)).join("") || token;

// What a character is read as: the compatibility form of one that no word of the vocabulary has, if words have that form.
function plain(character, { found, characters, twins }) {
  if (found.has(character)) return found.get(character);
  if (IS_ASCII.test(character) || characters.has(character) || !characters.size) return character;
  if (/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(character)) return "";
  const form = character.normalize("NFKC");
  return [...form].every((one) => characters.has(one)) ? form : twins.get(form) ?? character;
}

// The typographic marks that a vocabulary has in no word, but whose plain form is one of its words; and its characters.
function plainMarks(vocabulary) {
  const characters = new Set(vocabulary.join("")), twins = new Map([...characters].sort().map((one) => [one.normalize("NFKC"), one]));
  const wanted = Object.entries({ ...QUOTES, ...DASHES, ...OTHERS }).filter(([mark]) => !characters.has(mark)).map(([mark, form]) => [mark, form === "--" ? [form, "-"] : [form]]);
  const known = vocabulary.filter((word) => wanted.some(([, forms]) => forms.includes(word)));
  const pairs = wanted.map(([mark, forms]) => [mark, known.find((word) => forms.includes(word))]);
  return { found: new Map(pairs.filter(([, form]) => form !== undefined)), characters, twins };
}

function scriptsOf(tokens) {
  const found = new Map();
  for (const [letter, count] of counted(tokens.join(""))) {
    if (!HAS_LETTER.test(letter)) continue;
    const script = LETTERS.find(([, pattern]) => pattern.test(letter))?.[0] ?? OTHER;
    found.set(script, (found.get(script) ?? 0) + count);
  }
  return found;
}

const sum = (counts) => [...counts.values()].reduce((total, count) => total + count, 0);
