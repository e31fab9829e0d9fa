// The bar of sentences: tokens to select, and a line to type in.

import { badge, h, show } from "./dom.js";
import { MOST_SENTENCES, letterOf } from "./state.js";

export function sentenceBar(element, { state, info, words, engine, change, editing, edit, type, canSelect }) {
  const isFixed = engine.isComplete;
  const rows = state.sentences.map((sentence, row) =>
    editing === row ? typingRow(row, sentence.tokens.join(" "), words, type, edit) : sentenceRow(sentence, row));
  if (editing === state.sentences.length) rows.push(typingRow(editing, "", words, type, edit));
  const adds = !isFixed && editing === null && state.sentences.length < MOST_SENTENCES;
  show(element, ...rows, h("div", { class: "examples" },
    adds && h("button", { id: "add", class: "quiet", onclick: () => edit(state.sentences.length) }, "+ ", words.sentence),
    h("span", { class: "grow" }),
    h("span", { class: "label", id: "examples-label" }, words.examples),
    info.examples.map((example, i) => exampleButton(example, i))));

  function sentenceRow({ tokens, place }, row) {
    const letter = letterOf(state, row);
    return h("div", { class: `sentence ${letter || "spare"}`, role: "group", "aria-label": `${words.sentence} ${letter || row + 1}` },
      letter ? badge(letter) : h("span", { class: "badge spare", "aria-hidden": "true" }, String(row + 1)),
      h("div", { class: "tokens" }, tokens.map((token, i) => h("button", {
        id: `token-${row}-${i}`,
        class: "token",
        "aria-pressed": String(i === place),
        tabindex: i === place ? "0" : "-1",
        disabled: !canSelect(row, i),
        onclick: () => change(select(state, row, i)),
      }, token))),
      !isFixed && h("div", { class: "tools" },
        h("button", { id: `edit-${row}`, class: "quiet", title: words.edit, "aria-label": `${words.edit} ${letter || row + 1}`, onclick: () => edit(row) }, "✎"),
        state.sentences.length > 1 && h("button", { id: `remove-${row}`, class: "quiet", title: words.remove, "aria-label": `${words.remove} ${letter || row + 1}`, onclick: () => change(without(state, row)) }, "×")));
  }

  function exampleButton(example, i) {
    const word = [...new Set(example.sentences.map((tokens, row) => tokens[example.places[row]]))].join(" / ");
    const isShown = JSON.stringify(example.sentences) === JSON.stringify(state.sentences.map((one) => one.tokens));
    return h("button", { id: `example-${i}`, class: "chip example", "aria-pressed": String(isShown), onclick: () => change(fromExample(example)) },
      word, !example.works && h("span", { class: "fails" }, words.fails));
  }
}

function typingRow(row, text, words, type, edit) {
  const input = h("input", {
    id: "typing", class: "typing", value: text, "aria-label": words.type, placeholder: words.type, maxlength: "5000",
    onkeydown: (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && input.value.trim()) type(row, input.value);
      if (event.key === "Escape") edit(null);
    },
  });
  return h("div", { class: "sentence" }, h("span", { class: "badge spare", "aria-hidden": "true" }, "✎"), input);
}

export function select(state, row, place) {
  const sentences = state.sentences.map((one, i) => (i === row ? { ...one, place } : one));
  return { sentences, b: row === 0 ? state.b : row };
}

const without = (state, row) => ({ sentences: state.sentences.filter((_, i) => i !== row), b: 1 });

export const fromExample = ({ sentences, places, noun }) => ({
  sentences: sentences.map((tokens, i) => ({ tokens, place: places[i] })), b: Math.min(1, sentences.length - 1), noun: noun ?? "",
});
