// Compare: the cosine of every token of A with every token of B, as a table of numbers on shades of one hue.

import { h, number, scroller, show, style } from "../dom.js";
import { requests } from "../engine.js";
import { layerIndex, pairOf } from "../state.js";

const MOST = 40;

export const compareView = {
  load: (engine, state) => engine.ask("similarity", requests.similarity(state, ...compared(state))),

  draw(element, { state, words, data, change }) {
    const [a, b] = compared(state);
    const table = data.layers[layerIndex(state, data)];
    const key = JSON.stringify([a.tokens, b.tokens, a.place, b.place, state.language, state.within]);
    if (element.dataset.key === key && element.querySelector("table.matrix")) return update(element, table);
    const isCut = Math.max(a.tokens.length, b.tokens.length) > MOST;
    show(element,
      pairOf(state).length > 1 && h("div", { class: "segments", role: "group", "aria-label": words.views.compare },
        h("button", { id: "compare-ab", "aria-pressed": String(!state.within), onclick: () => change({ within: false }) }, words.compareAB),
        h("button", { id: "compare-aa", "aria-pressed": String(state.within), onclick: () => change({ within: true }) }, words.compareAA)),
      scroller(words.tableLabel,
        h("table", { class: "matrix" }, h("caption", { class: "hidden" }, words.tableLabel),
          h("thead", {}, h("tr", {}, h("td"), b.tokens.slice(0, MOST).map((token, i) => h("th", { scope: "col", title: token, class: i === b.place ? `chosen ${other(state)}` : null }, h("span", {}, token))))),
          h("tbody", {}, a.tokens.slice(0, MOST).map((token, i) => h("tr", {}, h("th", { scope: "row", title: token, class: i === a.place ? "chosen A" : null }, h("span", {}, token)),
            b.tokens.slice(0, MOST).map((_, j) => h("td", { class: i === a.place && j === b.place ? "chosen" : null }))))))),
      h("p", { class: "note" }, words.compareNote, isCut && ` ${words.first40}`));
    element.dataset.key = key;
    update(element, table);
    const box = element.querySelector(".scroll"), column = box.querySelector("thead th.chosen");
    // On a phone the chosen column may be out of sight; row labels stay at the left.
    if (column) box.scrollLeft = column.offsetLeft + column.offsetWidth / 2 - box.clientWidth / 2;
  },
};

const compared = (state) => {
  const [a, b] = pairOf(state);
  return [a, state.within || !b ? a : b];
};

const other = (state) => (state.within || pairOf(state).length === 1 ? "A" : "B");

function update(element, table) {
  element.querySelectorAll("tbody tr").forEach((row, i) => row.querySelectorAll("td").forEach((cell, j) => {
    const value = table[i][j];
    style(cell, { "--near": String(Math.max(0, Math.min(1, value))) });
    cell.classList.toggle("over-53", value > 0.53);
    cell.classList.toggle("over-64", value > 0.64);
    cell.textContent = number(value);
  }));
}
