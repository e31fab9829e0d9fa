// The page: its state, what is asked for it, and where it is drawn.

import { h, show } from "./dom.js";
import { Engine, requests } from "./engine.js";
import { VIEWS, fromFragment, nextLanguage, nextTheme, opening, pairOf, toFragment } from "./state.js";
import { wordsFor } from "./words.js";
import { fromExample, select, sentenceBar } from "./sentences.js";
import { layerBar } from "./layers.js";
import { neighborsView } from "./neighbors.js";
import { mapView } from "./map.js";
import { compareView } from "./compare.js";
import { gapView } from "./gap.js";
import { codeOf, download, pageWithAnswers, svgOf } from "./share.js";

const drawers = { neighbors: neighborsView, map: mapView, compare: compareView, gap: gapView };
const kept = JSON.parse(document.getElementById("frozen").textContent);
const engine = new Engine(kept, onProgress);
let info, state, words, mixes = [], texts = {}, editing = null, turn = 0, progress = {};

const parts = {
  header: h("header"), intro: h("div", { class: "intro" }), progress: h("p", { class: "muted progress" }), sentences: h("section", { class: "card sentences" }),
  layers: h("div", { class: "layers" }), tabs: h("nav"), view: h("div", { class: "view", id: "view", role: "tabpanel", tabindex: "-1" }),
  footer: h("footer"), toast: h("div", { class: "toast", role: "status" }), dialog: h("dialog"),
};

async function start() {
  info = await engine.ask("info");
  state = location.hash.length > 1 ? fromFragment(location.hash.slice(1), info) : { ...opening(info), ...kept?.state };
  show(document.getElementById("app"), parts.header, h("main", {}, parts.intro, engine.local && parts.progress, parts.sentences,
    h("div", { class: "bar" }, parts.layers, parts.tabs), h("section", { class: "card" }, parts.view)), parts.footer, parts.toast, parts.dialog);
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    if (location.hash.slice(1) === toFragment(state)) return;
    state = fromFragment(location.hash.slice(1), info);
    render();
  });
  render();
  mixes = await engine.ask("mixes").catch(() => []);
  if (state.layer === "mix") render();
}

const model = () => info.models.find((one) => one.name === state.model);
const exampleShown = () => model().examples.find((one) => JSON.stringify(one.sentences) === JSON.stringify(pairOf(state).map((it) => it.tokens)));

function change(changes) {
  state = { ...state, ...changes };
  editing = null;
  render();
}

function edit(row) {
  editing = row;
  renderBars();
  const input = document.getElementById("typing");
  input?.focus();
  input?.select();
}

async function type(row, text) {
  try {
    const tokens = await engine.ask("tokens", { text, model: state.model });
    if (tokens.warning) say(tokens.warning, 12000);
    const longest = tokens.reduce((best, token, i) => (token.length > tokens[best].length ? i : best), 0);
    const before = state.sentences[row];
    const same = before ? tokens.indexOf(before.tokens[before.place]) : -1;
    const sentences = [...state.sentences];
    sentences[row] = { tokens, place: same >= 0 ? same : longest };
    change({ sentences, b: row === 0 ? state.b : row });
  } catch (error) {
    say(error.message);
  }
}

// What a page without a server can't show can't be selected.
function canSelect(row, place) {
  return !engine.isComplete || [requests.neighbors, requests.substitutes].some((request, i) =>
    engine.has(["neighbors", "substitutes"][i], request(state, { ...state.sentences[row], place })));
}

function render() {
  words = wordsFor(state.language);
  document.documentElement.lang = state.language;
  document.documentElement.dataset.theme = state.theme;
  history.replaceState(null, "", `#${toFragment(state)}`);
  engine.local?.open(state.model);
  renderProgress();
  renderBars();
  renderView();
}

function onProgress(found) {
  progress = { ...progress, [found.model ?? state?.model]: found };
  if (!state) return;
  renderProgress();
  if (found.model === state.model && found.part === "index" && found.done === 1 && state.view === "neighbors") renderView();
}

// Of a page that computes by itself: how far the model is that is shown.
function renderProgress() {
  const { part, done, problem: wrong } = progress[state.model] ?? { part: "model", done: 0 };
  show(parts.progress, wrong ?? (part === "index" && done === 1 ? "" : words.progress[part](Math.round(100 * done))));
}

function renderBars() {
  show(parts.header, h("div", { class: "inner" },
    h("a", { class: "brand", href: "#", onclick: (event) => { event.preventDefault(); change({ ...opening(info), theme: state.theme, language: state.language }); } }, h("i", { class: "mark" }), h("span", {}, "elmo ", h("em", {}, "explorer"))),
    h("select", { id: "model", "aria-label": words.model, onchange: (event) => change({ ...opening(info, info.models.find((one) => one.name === event.target.value)), theme: state.theme, language: state.language, view: state.view }) },
      info.models.map((one) => h("option", { value: one.name, selected: one.name === state.model }, one.name))),
    h("span", { class: "muted text" }, model().text, texts[state.model] && ` · ${words.tokens(texts[state.model])}`),
    h("span", { class: "grow" }),
    h("button", { id: "language", class: "quiet", lang: nextLanguage(state.language), onclick: () => change({ language: nextLanguage(state.language) }) }, words.language),
    h("button", { id: "theme", class: "quiet icon", title: words.theme[state.theme], "aria-label": words.theme[state.theme], onclick: () => change({ theme: nextTheme(state.theme) }) }, { auto: "◐", light: "☀", dark: "☾" }[state.theme]),
    h("button", { id: "keys", class: "quiet icon", title: words.keys, "aria-label": words.keys, onclick: showKeys }, "?")));
  show(parts.intro, h("h1", {}, words.title), h("p", {}, words.lead));
  const shared = { state, info: model(), words, engine, change, mixes };
  sentenceBar(parts.sentences, { ...shared, editing, edit, type, canSelect });
  layerBar(parts.layers, shared);
  parts.layers.classList.toggle("idle", state.view === "gap");
  show(parts.tabs, h("div", { class: "tabs", role: "tablist", onkeydown: onTabKey }, VIEWS.map((view) => h("button", {
    id: `tab-${view}`, role: "tab", "aria-selected": String(view === state.view), "aria-controls": "view", tabindex: view === state.view ? "0" : "-1", onclick: () => change({ view }) }, words.views[view]))),
    h("div", { class: "share" },
      h("button", { id: "link", class: "quiet", onclick: copyLink }, words.link),
      !engine.isComplete && h("button", { id: "save", class: "quiet", onclick: savePage }, words.save),
      h("button", { id: "svg", class: "quiet", onclick: () => download(`elmo-${state.view}.svg`, svgOf(parts.view), "image/svg+xml") }, words.svg),
      h("button", { id: "code", class: "quiet", onclick: showCode }, words.code)));
  show(parts.footer, h("div", { class: "inner" }, engine.isComplete ? words.footerSaved : words.footer, h("span", { class: "grow" }), `elmo ${info.version} · ${model().name} ${model().model_hash.slice(0, 12)}`));
}

async function renderView() {
  const now = ++turn, view = state.view, began = performance.now();
  parts.view.setAttribute("aria-labelledby", `tab-${view}`);
  const missing = view === "gap" ? !model().has_softmax && words.noSoftmax : view !== "compare" && !model().text && words.noText;
  if (missing) return problem(missing);
  const waiting = setTimeout(() => parts.view.classList.add("waiting"), 150);
  try {
    const data = await drawers[view].load(engine, state);
    if (now !== turn) return;
    if (parts.view.dataset.view !== view) { parts.view.dataset.view = view; delete parts.view.dataset.key; show(parts.view); }
    drawers[view].draw(parts.view, { state, info: model(), words, data, change, engine, example: exampleShown() });
    parts.view.dataset.ready = `${view} ${state.layer} ${now}`;
    parts.view.dataset.ms = (performance.now() - began).toFixed(1);
    if (!texts[state.model] && model().text) engine.ask("text", { model: state.model }).then((found) => { texts[state.model] = found; renderBars(); }, () => {});
  } catch (error) {
    if (now === turn) problem(engine.isComplete ? words.notKept : error.message);
  } finally {
    clearTimeout(waiting);
    if (now === turn) parts.view.classList.remove("waiting");
  }
}

function problem(message) {
  delete parts.view.dataset.key;
  delete parts.view.dataset.view;
  show(parts.view, h("p", { class: "problem", role: "alert" }, message));
}

function say(message, milliseconds = 2500) {
  show(parts.toast, h("span", {}, message));
  clearTimeout(say.timer);
  say.timer = setTimeout(() => show(parts.toast), milliseconds);
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    say(words.copied);
  } catch {
    ask(words.link, h("input", { class: "typing", readonly: true, value: location.href, "aria-label": words.link, onfocus: (event) => event.target.select() }));
  }
}

async function savePage() {
  try {
    download("elmo-explorer.html", await pageWithAnswers(engine, state, info), "text/html");
    say(words.saved);
  } catch (error) {
    say(error.message);
  }
}

function ask(title, ...content) {
  show(parts.dialog, h("form", { method: "dialog" }, h("h2", {}, title), ...content, h("button", { id: "close" }, words.close)));
  parts.dialog.setAttribute("aria-label", title);
  parts.dialog.showModal();
}

function showKeys() {
  ask(words.keys, h("dl", { class: "keys" }, words.keyList.map(([key, what]) => [h("dt", {}, key.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, what)])));
}

function showCode() {
  const { python: text, command } = codeOf(state, model());
  ask(words.code, h("p", {}, words.codeNote), h("pre", { tabindex: "0" }, text), command && h("pre", { tabindex: "0" }, command));
}

function onTabKey(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const view = VIEWS[(VIEWS.indexOf(state.view) + step + VIEWS.length) % VIEWS.length];
  change({ view });
  document.getElementById(`tab-${view}`).focus();
}

let row = 0;

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || parts.dialog.open || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  row = Math.min(row, state.sentences.length - 1);
  const focused = /^token-(\d+)-/.exec(document.activeElement?.id ?? "");
  if (focused) row = Number(focused[1]);
  const done = {
    ArrowLeft: () => stepToken(-1), ArrowRight: () => stepToken(1), ArrowUp: () => stepRow(-1), ArrowDown: () => stepRow(1),
    n: () => change({ view: "neighbors" }), p: () => change({ view: "map" }), c: () => change({ view: "compare" }), f: () => change({ view: "gap" }),
    m: () => (!engine.isComplete || state.layer === "mix") && change({ layer: "mix" }), "/": () => !engine.isComplete && edit(row), s: copyLink, "?": showKeys,
    t: () => change({ theme: nextTheme(state.theme) }), e: nextExample,
  }[event.key] ?? (/^\d$/.test(event.key) && Number(event.key) < model().layers ? () => change({ layer: event.key }) : null);
  if (!done) return;
  event.preventDefault();
  done();
}

function stepToken(step) {
  const { tokens, place } = state.sentences[row];
  let next = place + step;
  while (next >= 0 && next < tokens.length && !canSelect(row, next)) next += step;
  if (next >= 0 && next < tokens.length) change(select(state, row, next));
  document.getElementById(`token-${row}-${state.sentences[row].place}`)?.focus();
}

function stepRow(step) {
  row = Math.max(0, Math.min(state.sentences.length - 1, row + step));
  if (row > 0 && state.b !== row) change({ b: row });
  document.getElementById(`token-${row}-${state.sentences[row].place}`)?.focus();
}

function nextExample() {
  const { examples } = model();
  if (examples.length) change(fromExample(examples[(examples.indexOf(exampleShown()) + 1) % examples.length]));
}

start().catch((error) => show(document.getElementById("app"), h("p", { class: "problem", role: "alert" }, error.message)));
