// Neighbors: for each layer, the nearest other words and the nearest uses of the same word, A beside B.

import { badge, h, number, show, style } from "../dom.js";
import { requests } from "../engine.js";
import { pairOf } from "../state.js";
import { sensesNote, shareFor } from "../trust.js";

export const neighborsView = {
  load: (engine, state) => Promise.all(pairOf(state).map((one) => engine.ask("neighbors", requests.neighbors(state, one)))),

  draw(element, { state, info, words, data, change, engine }) {
    const pair = pairOf(state);
    const quality = info.quality?.senses;
    const rows = data[0].layers.map((_, layer) => row(layer));
    show(element,
      pair.some(isHangul) && !info.isForeignHere && nounBar(),
      h("div", { class: `neighbors columns-${pair.length}`, role: "table", "aria-label": words.views.neighbors }, heading(), ...rows),
      (info.isForeignHere || data[0].layers.some((_, layer) => hasUses(layer))) && sensesNote({ state, info, words }));

    // Without another use there is nothing to trust.
    function hasUses(layer) {
      return data.some((answer) => answer.layers[layer].same.length);
    }

    function heading() {
      return h("div", { class: "row heading", role: "row" }, h("div", { class: "corner", role: "columnheader" }, h("span", { class: "hidden" }, words.layer)),
        pair.map((one, i) => h("div", { role: "columnheader", class: "head" }, badge("AB"[i]), h("strong", { title: one.tokens[one.place] }, one.tokens[one.place]),
          h("span", { class: "muted" }, around(one)))));
    }

    function row(layer) {
      const isMix = layer === info.layers;
      const name = isMix ? words.mix : words.layerName(layer);
      const hint = isMix ? words.mixRow : words.rows[Math.min(layer, 3)];
      const share = quality && hasUses(layer) ? shareFor(quality, isMix ? state : { layer: String(layer) }) : null;
      return h("div", { class: `row ${(isMix ? "mix" : String(layer)) === state.layer ? "shown" : ""}`, role: "row" },
        h("div", { class: "layer-name", role: "rowheader" }, h("strong", {}, name), h("span", { class: "muted" }, hint),
          share !== null && h("span", { class: "muted right" }, words.rightBy(share))),
        data.map((answer, i) => h("div", { class: "cell", role: "cell" }, chips(layer, i), lines(answer.layers[layer].same, layer))));
    }

    // Korean: particles make many words of one noun.
    function nounBar() {
      return h("div", { class: "noun" },
        h("label", {}, h("span", { class: "label" }, words.noun), h("input", {
          id: "noun", class: "typing", value: state.noun, size: "8", maxlength: "50", lang: "ko", disabled: engine.isComplete, "aria-describedby": "noun-hint",
          onchange: (event) => change({ noun: event.target.value.trim() }),
        })),
        h("span", { class: "muted", id: "noun-hint" }, words.nounHint));
    }

    function chips(layer, i) {
      const others = data.filter((_, at) => at !== i).flatMap((answer) => answer.layers[layer].other.map(wordOf));
      return h("ul", { class: "chips", "aria-label": words.other }, data[i].layers[layer].other.map((near) => {
        const isOnly = data.length > 1 && !others.includes(wordOf(near));
        const chip = h("li", { class: `chip ${isOnly ? `only ${"AB"[i]}` : ""}`, title: near.tokens.join(" ") },
          isOnly && h("span", { class: "hidden" }, words.onlyHere, ": "), h("span", { class: "word" }, wordOf(near)), h("span", { class: "value" }, number(near.cosine)));
        return style(chip, { "--near": String(Math.max(0, Math.min(1, near.cosine))) });
      }));
    }

    function lines(same, layer) {
      if (layer === 0) return null;  // every use has the same vector
      if (!same.length) return h("p", { class: "muted none" }, words.none);
      return h("ul", { class: "kwic", "aria-label": words.same }, same.slice(0, 3).map((near) => h("li", { title: near.tokens.join(" ") },
        h("span", { class: "value" }, number(near.cosine)),
        h("span", { class: "left" }, h("span", {}, near.tokens.slice(0, near.position).join(" "))),
        h("b", {}, wordOf(near)),
        h("span", { class: "right" }, near.tokens.slice(near.position + 1).join(" ")))));
    }
  },
};

const isHangul = ({ tokens, place }) => /[\uac00-\ud7a3]/.test(tokens[place]);
const wordOf = ({ tokens, position }) => tokens[position];

const around = ({ tokens, place }) =>
  `${place > 2 ? "… " : ""}${tokens.slice(Math.max(0, place - 2), place + 3).join(" ")}${place + 3 < tokens.length ? " …" : ""}`;
