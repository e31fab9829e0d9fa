// Text -> tokens, as elmo's tokenizer "auto" does: by the rules of "unicode" unless the text shows that its tokens are
// apart already. The rules and their reasons are in src/elmo/text/tokenizer.py and punctuation.py, which this follows
// line by line; tests/browser/test_tokenizer.py compares the two. Only characters that one side's Unicode doesn't have
// yet can make a difference.

const TITLES = "Mr|Mrs|Ms|Messrs|Mme|Mlle|Dr|Prof|Rev|Hon|St|Gen|Col|Maj|Capt|Lt|Cmdr|Sgt|Adm|Sen|Rep|Gov|Pres|Supt|Fr|Sra?|"
  + "Srta|Hr|Figs?|Eq|[Vv]ol|pp|cf|vs|viz|approx|ca";
const ABBREVIATIONS = "etc|al|Jr|Inc|Ltd|Co|Corp|Bros|Dept|Univ|Assn|Ave|Blvd|Rd|Mt|Ft|Ph\\.D|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|"
  + "Dec|Mon|Tue|Wed|Thu|Fri|Sat|usw|bzw";
const ALPHABET = "A-Za-zÀ-ɏͰ-ӿ", CAPITAL = "A-ZÀ-ÖØ-ÞΑ-ΩА-Я", HANGUL = "\uac00-\ud7a3";
const INVISIBLE = "\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff";
const SPACED = `${ALPHABET}0-9${HANGUL}`;
const IDEOGRAPHS = "\\u3007\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
// Python's classes of characters: JavaScript's \w and \d are ASCII, and its \s has other members.
export const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const WORD = "\\p{L}\\p{N}_", DIGIT = "\\p{Nd}";

const expression = (source, flags = "gu") => new RegExp(source, flags);
const BLANKS = expression(`[${BLANK}]+`), IS_BLANK = expression(`^[${BLANK}${INVISIBLE}]$`, "u");
const IS_LETTER_OR_DIGIT = expression("^[\\p{L}\\p{N}]$", "u");
const OF_HANGUL = expression(`[${HANGUL}]`), OF_LATIN = /[A-Za-z]/gu;
// With the letters that Python counts as these in another case.
const CLITIC = expression("(?<=[A-Za-zÀ-ÿ\\u0130\\u0131\\u0178\\u017f\\u1e9e\\u212a\\u212b])(?:n['’]t|['’](?:s|re|ve|ll|d|m))$", "iu");
const LONGEST_CLITIC = 3;
const LONGEST_MAIL_NAME = 64;

const MARKS = new Set(".,;:!?…。，、！？；：।؟۔");
const OPENING = new Set("([{“„«「『《〈【"), CLOSING = new Set(")]}”»」』》〉】");
const PAIRED = new Set([...OPENING, ...CLOSING, '"']);
const APART = expression(`(?<![^${BLANK}])(?:[.,;:!?。，、！？；：।؟۔(){}\\[\\]"“”„「」『』]|\`\`|''|n['’]t|['’](?:s|re|ve|ll|d|m)?|-[LR][RSC]B-)(?![^${BLANK}])`, "giu");
const WITHIN_A_WORD = expression(`(?<=[${WORD}])(?:\\([^${BLANK}()]*\\)|\\[[^${BLANK}\\[\\]]*\\])`);
// Tokens of other models, whose brackets say nothing.
export const SPECIAL_TOKEN = /\[(?:PAD|UNK|CLS|SEP|MASK|BOS|EOS)\]|<\/?(?:s|pad|unk|cls|sep|mask|bos|eos)>|<\|(?:endoftext|startoftext|pad)\|>/giu;

// The tokens of one text.
export function tokenize(text) {
  const tokens = unicodeTokens(text);
  return showsTokens(text, tokens) ? words(text) : tokens;
}

// What is between blanks, as Python's str.split gives it.
export const words = (text) => text.split(BLANKS).filter(Boolean);

// The tokens by rules, whatever the text shows.
export function unicodeTokens(text) {
  return [...text.matchAll(isKorean(text) ? KOREAN_TOKEN : TOKEN)].flatMap(([word]) => withoutClitics(word));
}

function tokenPattern(korean) {
  const mark = "[\\p{M}\\u200c\\u200d\\u00ad]";
  const letter = korean ? `(?:[${WORD}]${mark}*)` : `(?:(?![${IDEOGRAPHS}])[${WORD}]${mark}*)`;
  const apostrophe = `(?<=[${ALPHABET}0-9])['’](?=[${ALPHABET}])`;
  let joiner = `(?:[·\\-\\u2010\\u2011\\u2060\\ufeff]|${apostrophe}|(?<=${DIGIT})[.,:/](?=${DIGIT})|(?<=[A-Za-z0-9])\\.(?=[a-z0-9]))`;
  joiner = `(?:${joiner}|(?<=[${SPACED}])\\u200b(?=[${SPACED}]))`;
  if (korean) joiner = `(?:${joiner}|[&+/・•․‧－]|(?<=${DIGIT})%|(?<=[A-Z])\\.(?=[A-Z]))`;
  const word = `${letter}+(?:${joiner}${letter}+)*${korean ? `(?:(?<=${DIGIT})%)?` : ""}`;
  const symbol = `[^${WORD}${BLANK}${INVISIBLE}]`, skin = "[\\u{1f3fb}-\\u{1f3ff}]";
  return expression([
    `(?:https?://|www\\.)[^${BLANK}<>"]*[^${BLANK}<>"'’”.,;:!?)\\]}]`,
    `[${WORD}.+\\-]{1,${LONGEST_MAIL_NAME}}@[${WORD}][${WORD}\\-]*(?:\\.[${WORD}][${WORD}\\-]*)+`,
    `(?<![${WORD}])(?:(?:${TITLES}|${ABBREVIATIONS})\\.(?![.${WORD}])|Nos?\\.(?=[${BLANK}]*${DIGIT}))`,
    `(?<![${WORD}])(?:(?:[${ALPHABET}]\\.)+[${ALPHABET}](?![${WORD}.'’])|(?:[${ALPHABET}]\\.){2,})`,
    `(?<![${WORD}])(?!I\\.)[${CAPITAL}]\\.(?=[${BLANK}]+[^${BLANK}])`,
    `(?<![^${BLANK}])['’](?:s|re|ve|ll|d|m|em|cause)(?![${WORD}'’])`,
    `['’]${DIGIT}0s(?![${WORD}])|(?<![^${BLANK}(\\[{])[\\-+−]?(?=${DIGIT})${word}|${word}`,
    `[${IDEOGRAPHS}]${mark}*`,
    "\\.{2,}|-{2,}|\\^[_\\-oO0]?\\^",
    "[\\u{1f1e6}-\\u{1f1ff}]{2}",
    `(?:${symbol}|${mark})${skin}?${mark}*(?:(?<=\\u200d)${symbol}${skin}?${mark}*)*`,
  ].join("|"));
}

const TOKEN = tokenPattern(false), KOREAN_TOKEN = tokenPattern(true);

// Korean, though it may hold names and terms in Latin letters.
function isKorean(text) {
  const hangul = text.match(OF_HANGUL)?.length ?? 0;
  return hangul > 0 && 3 * hangul > (text.match(OF_LATIN)?.length ?? 0);
}

// "couldn't've" -> "could", "n't", "'ve".
function withoutClitics(word) {
  const ends = [];
  let end = word.length;
  for (;;) {
    const found = CLITIC.exec(word.slice(Math.max(0, end - LONGEST_CLITIC - 1), end));
    if (!found) return [word.slice(0, end), ...ends.reverse()];
    ends.push(found[0]);
    end -= found[0].length;
  }
}

// More marks are separate than touch something.
function showsTokens(text, tokens) {
  const apart = text.match(APART)?.length ?? 0;
  return apart > 0 && apart > touching(text, tokens);
}

// Marks, brackets and quotes that touch a word or each other.
function touching(text, tokens) {
  const parts = new Set();
  for (const pattern of [SPECIAL_TOKEN, WITHIN_A_WORD]) {
    for (const { index, 0: part } of text.matchAll(pattern)) for (let i = 0; i < part.length; i++) parts.add(index + i);
  }
  let found = 0, end = 0;
  for (const token of tokens) {
    const start = text.indexOf(token, end);
    end = start + token.length;
    if (parts.has(start)) continue;
    const before = characterBefore(text, start), after = end < text.length ? String.fromCodePoint(text.codePointAt(end)) : "";
    const [first] = token;
    if (MARKS.has(first)) found += !(isSpace(before) || MARKS.has(before));
    else if (PAIRED.has(token)) found += (!OPENING.has(token) && isBound(before)) || (!CLOSING.has(token) && isBound(after));
  }
  return found;
}

function characterBefore(text, place) {
  const last = text.slice(Math.max(0, place - 2), place);
  return /[\ud800-\udbff][\udc00-\udfff]/.test(last) ? last : last.slice(-1);
}

const isSpace = (character) => !character || IS_BLANK.test(character);

// A bracket or quote beside it belongs to a word: not the mouth of a face, ":)".
const isBound = (character) => IS_LETTER_OR_DIGIT.test(character) || PAIRED.has(character);
