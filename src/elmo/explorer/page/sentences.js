// The bar of sentences: tokens to select, a line to type in, and what is wrong with a sentence beside it.

import { badge, brief, h, show } from "./dom.js";
import { MOST_SENTENCES, MOST_TOKENS, letterOf } from "./state.js";
import { isForeign, modelFor } from "./trust.js";

const LONG = 60;  // tokens: more are shown in a box that scrolls

// `typing`: null, or the row that is written, what was typed and why it was refused.
export function sentenceBar(element, { state, info, words, engine, change, typing, edit, type, canSelect, warnings, models, use }) {
  const isFixed = engine.isComplete;
  const rows = state.sentences.map((sentence, row) =>
    typing?.row === row ? typingRow(typing, sentence.tokens.join(" "), words, type, edit) : sentenceRow(sentence, row));
  if (typing?.row === state.sentences.length) rows.push(typingRow(typing, "", words, type, edit));
  const adds = !isFixed && typing === null && state.sentences.length < MOST_SENTENCES;
  const example = exampleShown(info, state);
  show(element, h("div", { class: "rows" }, rows), h("div", { class: "examples" },
    adds && h("button", { id: "add", class: "quiet", onclick: () => edit(state.sentences.length) }, "+ ", words.sentence),
    h("span", { class: "grow" }),
    h("span", { class: "label", id: "examples-label" }, words.examples),
    info.examples.map((one, i) => exampleButton(one, i))),
    (example?.why || example?.works === false) && h("p", { class: `note why ${example.works ? "" : "failing"}` }, !example.works && h("strong", {}, words.failing, " "), example.why?.[state.language]));

  function sentenceRow({ tokens, place }, row) {
    const letter = letterOf(state, row), rest = tokens.length - MOST_TOKENS;
    return h("div", { class: `sentence ${letter || "spare"}`, role: "group", "aria-label": `${words.sentence} ${letter || row + 1}` },
      letter ? badge(letter) : h("span", { class: "badge spare", "aria-hidden": "true" }, String(row + 1)),
      h("div", { class: tokens.length > LONG ? "tokens long" : "tokens" }, tokens.slice(0, MOST_TOKENS).map((token, i) => h("button", {
        id: `token-${row}-${i}`,
        class: "token",
        "aria-pressed": String(i === place),
        tabindex: i === place ? "0" : "-1",
        title: brief(token) === token ? null : token,
        disabled: !canSelect(row, i),
        onclick: () => change(select(state, row, i)),
      }, token)), rest > 0 && h("span", { class: "muted" }, words.moreTokens(rest))),
      !isFixed && h("div", { class: "tools" },
        h("button", { id: `edit-${row}`, class: "quiet icon", title: words.edit, "aria-label": `${words.edit} ${letter || row + 1}`, onclick: () => edit(row) }, "✎"),
        state.sentences.length > 1 && h("button", { id: `remove-${row}`, class: "quiet icon", title: words.remove, "aria-label": `${words.remove} ${letter || row + 1}`, onclick: () => change(without(state, row)) }, "×")),
      warning(tokens, rest));
  }

  function warning(tokens, rest) {
    const told = warnings.get(warningKey(state.model, tokens));
    if (rest > 0) return h("p", { class: "warning" }, words.tooLong(tokens.length, MOST_TOKENS));
    if (!isForeign(tokens, info.language)) return told && h("p", { class: "warning" }, told);
    const remedy = modelFor(tokens);
    return h("p", { class: "warning" }, words.foreign(info.name), " ", remedy && (models.includes(remedy)
      ? h("button", { class: "use", onclick: () => use(remedy) }, words.useModel(remedy)) : words.startModel(remedy)));
  }

  function exampleButton(example, i) {
    const word = [...new Set(example.sentences.map((tokens, row) => tokens[example.places[row]]))].join(" / ");
    const isShown = JSON.stringify(example.sentences) === JSON.stringify(state.sentences.map((one) => one.tokens));
    return h("button", { id: `example-${i}`, class: "chip example", "aria-pressed": String(isShown), title: example.why?.[state.language], onclick: () => change(fromExample(example)) },
      word, !example.works && h("span", { class: "fails" }, words.fails));
  }
}

function typingRow({ row, text, problem }, sentence, words, type, edit) {
  const before = document.getElementById("typing");  // drawn again while somebody types
  const value = before?.dataset.row === String(row) ? before.value : text ?? sentence;
  const input = h("input", {
    id: "typing", class: "typing", "data-row": row, value, "aria-label": words.type, placeholder: words.type, maxlength: "5000",
    "aria-invalid": problem ? "true" : null, "aria-describedby": problem ? "typing-problem" : null, enterkeyhint: "done",
    onkeydown: (event) => {
      event.stopPropagation();
      if (event.isComposing) return;  // the key is the input method's
      if (event.key === "Enter") submit();
      if (event.key === "Escape") edit(null);
    },
  });
  const submit = () => input.value.trim() && type(row, input.value);
  return h("div", { class: "sentence" }, h("span", { class: "badge spare", "aria-hidden": "true" }, "✎"), input,
    h("div", { class: "tools" }, h("button", { id: "typing-done", class: "quiet", onclick: submit }, words.done), h("button", { id: "typing-cancel", class: "quiet", onclick: () => edit(null) }, words.cancel)),
    problem && h("p", { class: "warning", id: "typing-problem", role: "alert" }, problem));
}

export const warningKey = (model, tokens) => JSON.stringify([model, tokens]);

export const exampleShown = (info, state) => info.examples.find((one) =>
  JSON.stringify(one.sentences) === JSON.stringify(state.sentences.map((it) => it.tokens)) && one.sentences.every((_, i) => one.places[i] === state.sentences[i].place));

export function select(state, row, place) {
  const sentences = state.sentences.map((one, i) => (i === row ? { ...one, place } : one));
  return { sentences, b: row === 0 ? state.b : row };
}

const without = (state, row) => ({ sentences: state.sentences.filter((_, i) => i !== row), b: 1 });

export const fromExample = ({ sentences, places, noun }) => ({
  sentences: sentences.map((tokens, i) => ({ tokens, place: places[i] })), b: Math.min(1, sentences.length - 1), noun: noun ?? "",
});
