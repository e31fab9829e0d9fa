// Fill the gap: the words that the left side, the right side and both expect in the selected place.

import { badge, brief, h, show, style } from "../dom.js";
import { requests } from "../engine.js";
import { pairOf } from "../state.js";
import { gapNote } from "../trust.js";

const SIDES = ["forward", "backward", "both"];
// Where the bars may end, in percent: the least of these that holds the largest, so that one scale serves all lists.
const ENDS = [1, 2, 5, 10, 20, 30, 40, 60, 80, 100];

export const gapView = {
  load: (engine, state) => Promise.all(pairOf(state).map((one) => engine.ask("substitutes", requests.substitutes(state, one)))),

  draw(element, { state, info, words, data }) {
    const pair = pairOf(state);
    const shown = data.flatMap((one) => SIDES.flatMap((side) => [one[side]?.probability ?? 0, ...(one[side]?.best ?? []).map(([, value]) => value)]));
    const end = ENDS.find((one) => one >= 100 * Math.max(...shown)) ?? 100;
    show(element,
      ...pair.map((one, i) => h("section", { class: `gap ${"AB"[i]}` }, sentenceWithGap(one, i),
        h("div", { class: "sides" }, SIDES.filter((side) => data[i][side]).map((side) => list(side, data[i][side], one.tokens[one.place]))))),
      gapNote({ info, words }));

    function sentenceWithGap({ tokens, place }, i) {
      return h("p", { class: "gapped" }, badge("AB"[i]), tokens.slice(0, place).join(" "), " ", h("mark", { class: "AB"[i], title: tokens[place] }, brief(tokens[place])), " ", tokens.slice(place + 1).join(" "));
    }

    function list(side, { best, probability, rank }, word) {
      const isListed = best.some(([token]) => token === word);
      return h("div", { class: `side ${side}` }, h("h2", {}, words[side]), axis(), h("ol", {}, best.map(([token, value]) => bar(token, value, token === word)),
        !isListed && (rank === null ? h("li", { class: "true out" }, h("span", { class: "word", title: word }, word), h("span", { class: "rank" }, words.unknown))
          : bar(word, probability, true, words.rank(rank)))));
    }

    // What a length means: 0, the half and the end of the scale above the bars.
    function axis() {
      return h("div", { class: "axis", role: "note", "aria-label": words.scaleTo(end), title: words.scaleTo(end) },
        h("span", {}), h("span", { class: "ticks", "aria-hidden": "true" }, [`0`, `${end / 2}`, `${end} %`].map((tick) => h("span", {}, tick))));
    }

    function bar(token, value, isTrue, rank = "") {
      const item = h("li", { class: isTrue ? `true ${rank ? "out" : ""}` : null },
        h("span", { class: "word", title: token }, token, isTrue && h("span", { class: "hidden" }, " ✓")),
        h("span", { class: "track" }, h("span", { class: "length" })),
        h("span", { class: "value" }, percent(value)), rank && h("span", { class: "rank" }, rank));
      return style(item, { "--share": `${(10000 * value) / end}%` });
    }
  },
};

const percent = (value) => (value >= 0.1 ? `${(100 * value).toFixed(0)} %` : value >= 0.001 ? `${(100 * value).toFixed(1)} %` : "<0.1 %");
