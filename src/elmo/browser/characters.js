// A token -> the ids of its characters: its UTF-8 bytes, between two marks. As src/elmo/text/characters.py.

export const MARKS = { beginSentence: 257, endSentence: 258, beginWord: 259, endWord: 260, padding: 261 };
export const BOUNDARIES = ["<S>", "</S>"];
export const ALPHABET = 262;

const encoder = new TextEncoder();
const LONE_SURROGATES = /\p{Surrogate}/gu; // UTF-8 can't hold them; TextEncoder would write another character instead

/** Int32Array (tokens, characters). The boundary tokens have rows of their own. */
export function characterIds(tokens, characters) {
  const ids = new Int32Array(tokens.length * characters).fill(MARKS.padding);
  tokens.forEach((token, row) => {
    const at = row * characters;
    ids[at] = MARKS.beginWord;
    const boundary = BOUNDARIES.indexOf(token);
    const kept = boundary < 0 ? keptBytes(token, characters - 2) : [MARKS.beginSentence + boundary - 1];
    kept.forEach((byte, place) => (ids[at + 1 + place] = byte + 1));
    ids[at + 1 + kept.length] = MARKS.endWord;
  });
  return ids;
}

/** A text's UTF-8, without what UTF-8 can't hold. */
export const bytesOf = (text) => encoder.encode(text.replace(LONE_SURROGATES, ""));

function keptBytes(token, most) {
  // No more code units than bytes: a long token needn't be encoded whole. Surrogates are dropped before it is cut.
  return bytesOf(token.replace(LONE_SURROGATES, "").slice(0, most + 1)).subarray(0, most);
}
