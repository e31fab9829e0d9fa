// How far to trust a view: what was measured of the model, for the layer that is shown; and sentences in a language that
// the model has not read, of which nothing was measured.

import { h } from "./dom.js";

const SCRIPTS = { en: /\p{Script=Latin}/gu, ko: /\p{Script=Hangul}/gu };
const BUNDLED = { en: "small-en", ko: "small-ko" };

// Whether most letters are of another script than the model's language; of a language not listed above, never.
export function isForeign(tokens, language) {
  const letters = tokens.join("").match(/\p{L}/gu)?.length ?? 0;
  return letters > 1 && SCRIPTS[language] !== undefined && 2 * shareOf(tokens, language) < letters;
}

const shareOf = (tokens, language) => tokens.join("").match(SCRIPTS[language])?.length ?? 0;

// The bundled model for a sentence's script, if there is one.
export function modelFor(tokens) {
  const language = Object.keys(SCRIPTS).find((one) => !isForeign(tokens, one));
  return BUNDLED[language];
}

// The figures of a layer: a share in percent, or null for one without.
export function shareFor(senses, state) {
  if (state.layer !== "mix") return senses.layers[Number(state.layer)] ?? null;
  return new Set(state.weights).size === 1 ? senses.mean : null;
}

export function sensesNote({ state, info, words }) {
  const { quality, isForeignHere } = info;
  if (isForeignHere) return h("p", { class: "note quality" }, words.untrusted);
  if (!quality?.senses) return h("p", { class: "note quality" }, quality?.note?.[state.language] ?? words.notMeasured);
  const by = state.layer === "mix" ? words.byMean : state.layer === "0" ? words.bySpelling : words.byLayer(state.layer);
  return h("p", { class: "note quality" }, words.senses(quality.senses, by, shareFor(quality.senses, state)),
    quality.note && ` ${quality.note[state.language]}`);
}

export function gapNote({ info, words }) {
  const { quality, isForeignHere } = info;
  return h("p", { class: "note quality" }, isForeignHere ? words.untrusted : quality?.gap ? words.gapQuality(quality.gap) : words.notMeasured);
}
