// The page: its state, what is asked for it, and where it is drawn.

import { h, marksMore, show } from "./dom.js";
import { Engine, requests } from "./engine.js";
import { VIEWS, fromFragment, nextLanguage, nextTheme, opening, pairOf, readBy, toFragment } from "./state.js";
import { wordsFor } from "./words.js";
import { exampleShown, fromExample, select, sentenceBar, warningKey } from "./sentences.js";
import { layerBar } from "./layers.js";
import { neighborsView } from "./views/neighbors.js";
import { mapView } from "./views/map.js";
import { compareView } from "./views/compare.js";
import { gapView } from "./views/gap.js";
import { computationView } from "./views/computation.js";
import { learnView } from "./views/learn.js";
import { codeOf, download, pageWithAnswers, svgOf } from "./share.js";
import { Tour } from "./tour.js";
import { isForeign } from "./trust.js";

const drawers = { neighbors: neighborsView, map: mapView, compare: compareView, gap: gapView, computation: computationView, learn: learnView };
const kept = JSON.parse(document.getElementById("frozen").textContent);
const engine = new Engine(kept, onProgress);
const warnings = new Map();  // by the sentence that they are about
let info, state, words, mixes = [], texts = {}, typing = null, isMenuOpen = false, tour = null, turn = 0, typed = 0, progress = {};

const parts = {
  header: h("header"), text: h("span", { class: "muted text" }), intro: h("div", { class: "intro" }), progress: h("p", { class: "muted progress" }), sentences: h("section", { class: "card sentences" }),
  layers: h("div", { class: "layers" }), tabs: h("nav"), view: h("div", { class: "view", id: "view", role: "tabpanel", tabindex: "-1" }),
  footer: h("footer"), toast: h("div", { class: "toast", role: "status" }), dialog: h("dialog"),
};

async function start() {
  info = await engine.ask("info");
  const [asksForTour, fragment] = [/[#&]tour(?=$|[&=])/.test(location.hash), location.hash.slice(1).replace(/(^|&)tour(=[^&]*)?(?=$|&)/, "")];
  state = fragment ? fromFragment(fragment, info) : { ...opening(info), ...kept?.state };
  show(document.getElementById("app"), parts.header, h("main", {}, parts.intro, engine.local && parts.progress, parts.sentences,
    h("div", { class: "bar" }, parts.tabs, parts.layers), h("section", { class: "card" }, parts.view)), parts.footer, parts.toast, parts.dialog);
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => isMenuOpen && !event.target.closest("#menu-button") && openMenu(false));
  addEventListener("hashchange", () => {
    if (location.hash.slice(1) === toFragment(state)) return;
    change(fromFragment(location.hash.slice(1), info));
  });
  if (asksForTour) startTour();
  else render();
  mixes = await engine.ask("mixes").catch(() => []);
  if (state.layer === "mix") render();
}

const model = () => info.models.find((one) => one.name === state.model);

function change(changes) {
  state = { ...state, ...changes };
  typing = null;
  return render();
}

function edit(row, text = null, problem = "") {
  if (row === null) typed++;
  const left = typing?.row;
  typing = row === null ? null : { row, text, problem };
  renderBars();
  const input = document.getElementById("typing");
  input?.focus();
  if (!problem) input?.select();
  if (row === null) focusOn(left);
}

// A sentence's selected token; the line that was typed in is gone. Without such a sentence the button that adds one.
const focusOn = (row) => document.getElementById(state.sentences[row] ? `token-${row}-${state.sentences[row].place}` : "add")?.focus();

async function type(row, text) {
  const now = ++typed, name = state.model, before = state.sentences[row];
  // Meanwhile it may be cancelled or typed otherwise, and what it was typed for may be gone.
  const isWanted = () => now === typed && name === state.model && row <= state.sentences.length && before?.tokens === state.sentences[row]?.tokens;
  try {
    const tokens = await engine.ask("tokens", { text, model: name });
    if (!isWanted()) return;
    if (tokens.warning) warnings.set(warningKey(name, tokens), tokens.warning);
    const longest = tokens.reduce((best, token, i) => (token.length > tokens[best].length ? i : best), 0);
    const sentences = [...state.sentences], old = sentences[row];
    const same = old ? tokens.indexOf(old.tokens[old.place]) : -1;
    sentences[row] = { tokens, place: same >= 0 ? same : longest };
    state = { ...state, sentences, b: row === 0 ? state.b : row };
    const isOver = typing?.row === row, hasFocus = document.activeElement?.id.startsWith("typing");
    if (isOver) typing = null;
    render();
    if (isOver && hasFocus) focusOn(row);
  } catch (error) {
    if (isWanted()) edit(row, text, error.message);
  }
}

// Figures of trust were measured in the model's own language.
function judged() {
  const isForeignHere = pairOf(state).some(({ tokens }) =>
    isForeign(tokens, model().language) || warnings.get(warningKey(state.model, tokens))?.includes("not in the model's language"));
  return isForeignHere ? { ...model(), quality: null, isForeignHere } : model();
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
  if (state.view !== "learn") engine.local?.open(state.model);
  renderProgress();
  renderBars();
  return renderView();
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
  show(parts.progress, state.view === "learn" ? "" : wrong ?? (part === "index" && done === 1 ? "" : words.progress[part](Math.round(100 * done))));
}

// Of the header, the text that the neighbors come from. Its size arrives late: what a reader may be clicking on stays.
function renderText() {
  show(parts.text, model().text, texts[state.model] && ` · ${words.tokens(texts[state.model])}`);
}

function renderBars() {
  renderText();
  const quiet = (id, text, act, more = {}) => h("button", { id, class: "quiet", onclick: act, ...more }, text);
  const icon = (id, sign, label, act, more = "") => h("button", { id, class: `quiet icon ${more}`, title: label, "aria-label": label, onclick: act }, h("span", { "aria-hidden": "true" }, sign), h("span", { class: "named" }, label));
  show(parts.header, h("div", { class: "inner" },
    h("a", { class: "brand", href: "#", onclick: (event) => { event.preventDefault(); change({ ...opening(info), theme: state.theme, language: state.language }); } }, h("img", { class: "mark", src: document.querySelector("link[rel=icon]").href, alt: "" }), h("span", {}, "elmo ", h("em", {}, "explorer"))),
    h("span", { class: "muted version" }, info.version),
    h("select", { id: "model", "aria-label": words.model, onchange: (event) => change({ ...opening(info, info.models.find((one) => one.name === event.target.value)), theme: state.theme, language: state.language, view: state.view }) },
      info.models.map((one) => h("option", { value: one.name, selected: one.name === state.model }, one.name))),
    parts.text,
    h("span", { class: "grow" }),
    h("div", { class: "menu", id: "menu" },
      quiet("tour", words.tourButton, startTour),
      quiet("link", words.link, copyLink),
      !engine.isComplete && quiet("save", words.save, savePage),
      quiet("svg", words.svg, () => download(`elmo-${state.view}.svg`, svgOf(parts.view), "image/svg+xml")),
      quiet("code", words.code, showCode),
      info.source && h("a", { id: "source", class: "quiet", href: info.source, target: "_blank", rel: "noopener" }, words.source),
      quiet("language", words.language, () => change({ language: nextLanguage(state.language) }), { lang: nextLanguage(state.language) }),
      icon("theme", { auto: "◐", light: "☀", dark: "☾" }[state.theme], words.theme[state.theme], () => change({ theme: nextTheme(state.theme) })),
      icon("keys", "?", words.keys, showKeys, "keyboard")),
    h("button", { id: "menu-button", class: "quiet icon", "aria-label": words.menu, title: words.menu, "aria-expanded": String(isMenuOpen), "aria-controls": "menu", onclick: () => openMenu(!isMenuOpen) }, "☰")));
  parts.header.classList.toggle("open", isMenuOpen);
  show(parts.intro, h("h1", {}, words.title), h("p", {}, words.lead));
  const shared = { state, info: model(), words, engine, change, mixes };
  sentenceBar(parts.sentences, { ...shared, typing, edit, type, canSelect, warnings, models: info.models.map((one) => one.name), use: (name) => change(readBy(state, info, name)) });
  layerBar(parts.layers, shared);
  parts.layers.classList.toggle("idle", ["gap", "learn"].includes(state.view));
  parts.sentences.hidden = state.view === "learn";  // it has sentences of its own
  show(parts.tabs, h("div", { class: "tabs", role: "tablist", onkeydown: onTabKey }, VIEWS.map((view) => h("button", {
    id: `tab-${view}`, role: "tab", "aria-selected": String(view === state.view), "aria-controls": "view", tabindex: view === state.view ? "0" : "-1", onclick: () => change({ view }) }, words.views[view]))));
  const tabs = marksMore(parts.tabs.firstChild), tab = document.getElementById(`tab-${state.view}`);
  if (tab && tab.offsetLeft + tab.offsetWidth > tabs.clientWidth) tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - 20;
  show(parts.footer, h("div", { class: "inner" }, engine.isComplete ? words.footerSaved : kept.served ? words.footer : words.footerBrowser, h("span", { class: "grow" }), `elmo ${info.version} · ${model().name} ${model().model_hash.slice(0, 12)}`));
}

async function renderView() {
  const now = ++turn, view = state.view, began = performance.now();
  parts.view.setAttribute("aria-labelledby", `tab-${view}`);
  const missing = view === "learn" ? !document.getElementById("learner") && words.notKept : view === "gap" ? !model().has_softmax && words.noSoftmax : view === "computation" ? !model().has_computation && words.noComputation : view !== "compare" && !model().text && words.noText;
  if (missing) return problem(missing);
  const waiting = setTimeout(() => now === turn && parts.view.classList.add("waiting"), 150);
  try {
    const data = await drawers[view].load(engine, state, model());
    if (now !== turn) return;
    if (parts.view.dataset.view !== view) { parts.view.dataset.view = view; delete parts.view.dataset.key; show(parts.view); }
    drawers[view].draw(parts.view, { state, info: judged(), words, data, change, engine });
    parts.view.dataset.ready = `${view} ${state.layer} ${now}`;
    parts.view.dataset.ms = (performance.now() - began).toFixed(1);
    if (!texts[state.model] && model().text && view !== "learn") engine.ask("text", { model: state.model }).then((found) => { texts[state.model] = found; renderText(); }, () => {});
  } catch (error) {
    if (now === turn) problem(engine.isComplete ? words.notKept : error.message);
  } finally {
    clearTimeout(waiting);
    if (now === turn) {
      parts.view.classList.remove("waiting");
      tour?.draw();
    }
  }
}

function problem(message) {
  parts.view.classList.remove("waiting");
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
  show(parts.toast);  // it would stay behind the dialog
  show(parts.dialog, h("form", { method: "dialog" }, h("h2", {}, title), ...content, h("button", { id: "close" }, words.close)));
  parts.dialog.setAttribute("aria-label", title);
  parts.dialog.showModal();
}

function showKeys() {
  ask(words.keys, h("dl", { class: "keys" }, words.keyList.map(([key, what]) => [h("dt", {}, key.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, what)])));
}

function showCode() {
  const { python: text, command } = codeOf(state, model());
  ask(words.code, h("p", {}, words.codeNote), text && h("pre", { tabindex: "0" }, text), command && h("pre", { tabindex: "0" }, command));
}

function openMenu(isOpen) {
  isMenuOpen = isOpen;
  renderBars();
}

function startTour() {
  if (tour) return;
  isMenuOpen = false;
  const { sentences, b, noun } = opening(info, model());
  tour = new Tour({
    change, current: () => ({ state, info: model(), words: wordsFor(state.language), engine }), opening: { sentences, b, noun },
    ended: (before) => {
      tour = null;
      change(before).then(() => ["menu-button", "tour"].forEach((id) => document.getElementById(id).focus()));  // the one that is visible
    },
  });
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
  if (event.key === "Escape" && isMenuOpen) {
    openMenu(false);
    document.getElementById("menu-button").focus();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || parts.dialog.open || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key.startsWith("Arrow") && event.target.closest(".scroll, .grid")) return;  // they scroll
  row = Math.min(row, state.sentences.length - 1);
  const focused = /^token-(\d+)-/.exec(document.activeElement?.id ?? "");
  if (focused) row = Number(focused[1]);
  const done = {
    ArrowLeft: () => stepToken(-1), ArrowRight: () => stepToken(1), ArrowUp: () => stepRow(-1), ArrowDown: () => stepRow(1),
    n: () => change({ view: "neighbors" }), p: () => change({ view: "map" }), c: () => change({ view: "compare" }), f: () => change({ view: "gap" }), h: () => change({ view: "computation" }), l: () => change({ view: "learn" }),
    ...(state.view === "computation" && { j: () => computationView.step(parts.view, 1), k: () => computationView.step(parts.view, -1) }),
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
  focusOn(row);
}

function stepRow(step) {
  row = Math.max(0, Math.min(state.sentences.length - 1, row + step));
  if (row > 0 && state.b !== row) change({ b: row });
  focusOn(row);
}

function nextExample() {
  const { examples } = model();
  if (examples.length) change(fromExample(examples[(examples.indexOf(exampleShown(model(), state)) + 1) % examples.length]));
}

start().catch((error) => show(document.getElementById("app"), h("p", { class: "problem", role: "alert" }, error.message)));
