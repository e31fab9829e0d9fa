// Fill the gap: the words that the left side, the right side and both expect in the selected place.

import { badge, h, show, style } from "./dom.js";
import { requests } from "./engine.js";
import { pairOf } from "./state.js";

const SIDES = ["forward", "backward", "both"];
// Bars are log-probabilities: full at 1, empty at one in ten thousand.
const LEAST = Math.log(1e-4);

export const gapView = {
  load: (engine, state) => Promise.all(pairOf(state).map((one) => engine.ask("substitutes", requests.substitutes(state, one)))),

  draw(element, { state, info, words, data }) {
    const pair = pairOf(state);
    show(element,
      ...pair.map((one, i) => h("section", { class: `gap ${"AB"[i]}` }, sentenceWithGap(one, i),
        h("div", { class: "sides" }, SIDES.filter((side) => data[i][side]).map((side) => list(side, data[i][side], one.tokens[one.place]))))),
      info.quality?.gap && h("p", { class: "note quality" }, words.gapQuality(info.quality.gap)));

    function sentenceWithGap({ tokens, place }, i) {
      return h("p", { class: "gapped" }, badge("AB"[i]), tokens.slice(0, place).join(" "), " ", h("mark", { class: "AB"[i] }, tokens[place]), " ", tokens.slice(place + 1).join(" "));
    }

    function list(side, { best, probability, rank }, word) {
      const isListed = best.some(([token]) => token === word);
      return h("div", { class: `side ${side}` }, h("h3", {}, words[side]), info.quality?.gap && h("p", { class: "muted right" }, words.firstBy(info.quality.gap.first[side])), h("ol", {}, best.map(([token, value]) => bar(token, value, token === word)),
        !isListed && (rank === null ? h("li", { class: "true out" }, h("span", { class: "word" }, word), h("span", { class: "value" }, words.unknown))
          : bar(word, probability, true, words.rank(rank)))));
    }

    function bar(token, value, isTrue, extra = "") {
      const item = h("li", { class: isTrue ? `true ${extra ? "out" : ""}` : null }, h("span", { class: "word" }, token, isTrue && h("span", { class: "hidden" }, " ✓")),
        h("span", { class: "value" }, extra ? `${extra} · ` : "", percent(value)));
      return style(item, { "--share": `${100 * Math.max(0.01, 1 - Math.log(Math.max(value, 1e-9)) / LEAST)}%` });
    }
  },
};

const percent = (value) => (value >= 0.1 ? `${(100 * value).toFixed(0)} %` : value >= 0.001 ? `${(100 * value).toFixed(1)} %` : "<0.1 %");
