// Watch it learn: a toy biLM is trained in a worker of this page, on a text that can be edited.

import { TEXTS } from "../../learn/texts.js";
import { h, number, scroller, show, style, svg } from "../dom.js";

const [WIDTH, HEIGHT, EDGE] = [520, 260, 26];
const SIDES = ["forward", "backward", "both"];
const CHOICES = { rate: [0.001, 0.003, 0.01, 0.03], cells: [16, 32, 64], layers: [1, 2] };
let worker = null, ownTexts = {};

export const learnView = {
  load: async () => null,

  draw(element, { state, words, change }) {
    const key = `${state.learn} ${state.language}`;
    if (element.dataset.key === key && element.querySelector(".learn")) return;
    element.dataset.key = key;
    build(element, state, words.learn, change);
  },
};

// "seed,rate,cells,layers", as an address has it; what makes no sense is left at its default.
export function settingsOf(learn) {
  const [seed, ...chosen] = learn.split(",").map(Number);
  const pairs = Object.entries(CHOICES).map(([name, values], i) => [name, values.includes(chosen[i]) ? chosen[i] : values[name === "rate" ? 2 : 0]]);
  return { seed: Number.isInteger(seed) && seed >= 0 && seed < 10000 ? seed : 1, ...Object.fromEntries(pairs) };
}

const written = ({ seed, rate, cells, layers }) => [seed, rate, cells, layers].join(",");

function build(element, state, words, change) {
  const settings = settingsOf(state.learn), made = TEXTS[state.language], text = ownTexts[state.language] ?? made.text;
  const lines = text.split("\n").map((line) => line.split(/\s+/).filter(Boolean)).filter((line) => line.length);
  const isOwn = text !== made.text, [sentence, place] = isOwn ? [lines[0].join(" "), Math.floor(lines[0].length / 2)] : made.gap;
  const look = { word: isOwn ? frequent(lines) : made.word, sentence: sentence.split(" "), place, cell: 0 };
  let isRunning = false, uses = [];

  const facts = h("p", { class: "facts value" }), curve = picture(words.curve), map = picture(words.map), read = h("p", { class: "muted" }, words.mapHint);
  const lists = h("div", { class: "sides" }), gates = h("div", {}), tokens = h("div", { class: "tokens" });
  const play = h("button", { id: "learn-play", class: "use", onclick: () => run(!isRunning) }, words.play);
  const textarea = h("textarea", { id: "learn-text", rows: "10", spellcheck: "false", "aria-label": words.text }, text);
  const field = (name, label, value, more, act) => h("label", { class: "muted" }, label, " ", h("input", { id: `learn-${name}`, class: "typing", value, ...more, onchange: act }));
  const again = (changes) => change({ learn: written({ ...settings, ...changes }) });
  const choice = (name) => h("label", { class: "muted" }, words[name], " ", h("select", { id: `learn-${name}`, onchange: (event) => (name === "rate" ? tell({ rate: Number(event.target.value) }) : again({ [name]: Number(event.target.value) })) },
    CHOICES[name].map((value) => h("option", { value, selected: value === settings[name] }, String(value)))));
  const section = (title, ...content) => h("section", {}, h("h2", {}, title), ...content);

  show(element, h("div", { class: "learn" }, h("p", { class: "note" }, words.lead),
    h("div", { class: "learn-tools" }, play, h("button", { id: "learn-step", class: "quiet", onclick: () => { run(false); tell({ step: true }); } }, words.step),
      h("button", { id: "learn-again", class: "quiet", onclick: () => restart() }, words.again), choice("rate"), choice("cells"), choice("layers"),
      field("seed", words.seed, settings.seed, { type: "number", min: "0", max: "9999" }, (event) => again({ seed: Number(event.target.value) }))),
    facts,
    h("div", { class: "learn-panels" },
      section(words.curve, curve, h("p", { class: "muted" }, h("span", { class: "dot A" }), " ", words.forward, " ", h("span", { class: "dot B" }), " ", words.backward)),
      section(words.map, field("word", words.word, look.word, { maxlength: "40" }, (event) => aim({ word: event.target.value.trim() })), map, read),
      section(words.gap, field("sentence", words.sentence, look.sentence.join(" "), { maxlength: "200" }, (event) => sentenceTyped(event.target.value)), tokens, lists),
      section(words.gates, field("cell", words.cell, 1, { type: "number", min: "1", max: settings.cells }, (event) => aim({ cell: Math.min(settings.cells, Math.max(1, Number(event.target.value) || 1)) - 1 })), gates)),
    h("details", {}, h("summary", {}, words.text), textarea, h("div", { class: "learn-tools" },
      h("button", { id: "learn-use", class: "use", onclick: () => { ownTexts[state.language] = textarea.value.trim() || undefined; restart(); } }, words.useText),
      isOwn && h("button", { class: "quiet", onclick: () => { delete ownTexts[state.language]; restart(); } }, words.ownText)))));
  drawTokens();
  begin();

  function begin() {
    worker ??= new Worker(URL.createObjectURL(new Blob([document.getElementById("learner").textContent], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => (element.contains(facts) ? receive(data) : tell({ run: false }));
    tell({ begin: { text, settings: { ...settings, dim: settings.cells } }, look });
  }

  function restart() {
    delete element.dataset.key;
    change({});
  }

  function tell(message) {
    worker.postMessage(message);
  }

  function run(wanted) {
    isRunning = wanted;
    play.textContent = isRunning ? words.pause : words.play;
    tell({ run: isRunning });
  }

  function aim(changes) {
    Object.assign(look, changes);
    drawTokens();
    tell({ look });
  }

  function sentenceTyped(typed) {
    const found = typed.split(/\s+/).filter(Boolean);
    if (found.length) aim({ sentence: found, place: Math.min(look.place, found.length - 1) });
  }

  function drawTokens() {
    show(tokens, look.sentence.map((token, i) => h("button", { id: `learn-token-${i}`, class: "token", "aria-pressed": String(i === look.place), onclick: () => aim({ place: i }) }, token)));
  }

  function receive({ begun, report }) {
    if (begun) return (element.dataset.begun = words.begun(begun));
    const [, forward, backward] = report.curve.at(-1) ?? [0, NaN, NaN];
    show(facts, `${element.dataset.begun} ${words.now(report.steps, report.epochs)}`, report.steps > 0 && ` ${words.perplexity(number(Math.exp(forward), 1), number(Math.exp(backward), 1))}`);
    drawCurve(report.curve);
    drawMap(report.map);
    show(lists, SIDES.map((side) => list(side, report.gap[side])));
    show(gates, gateTable(report.gates));
    element.dataset.steps = report.steps;
    requestAnimationFrame(() => tell({ seen: true }));
  }

  function drawCurve(points) {
    if (!points.length) return show(curve);
    const last = points.at(-1)[0], most = Math.max(...points.flatMap(([, a, b]) => [a, b]));
    const line = (side, letter) => svg("polyline", { class: `curve ${letter}`, points: points.map((one) => `${(EDGE + ((WIDTH - 2 * EDGE) * one[0]) / Math.max(last, 1)).toFixed(1)},${(HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * one[side]) / most).toFixed(1)}`).join(" ") });
    show(curve, line(1, "A"), line(2, "B"), svg("text", { x: 4, y: EDGE }, number(most, 1)), svg("text", { x: 4, y: HEIGHT - EDGE }, "0"), svg("text", { x: WIDTH - EDGE, y: HEIGHT - 6, "text-anchor": "end" }, words.steps(Math.round(last))));
  }

  function drawMap(found) {
    uses = found ?? [];
    if (!found) return show(map, svg("text", { x: EDGE, y: HEIGHT / 2 }, words.few));
    const most = Math.max(...uses.flatMap(({ at: [x, y] }) => [Math.abs(x) / WIDTH, Math.abs(y) / HEIGHT]), 1e-9), scale = 0.44 / most;
    const marks = isOwn ? [0, uses.length - 1] : made.pair.map((cue) => uses.findIndex((use) => use.tokens.includes(cue)));
    const points = uses.map(({ at: [x, y] }, i) => {
      const letter = "AB"[marks.indexOf(i)], place = `translate(${(WIDTH / 2 + scale * x).toFixed(1)} ${(HEIGHT / 2 - scale * y).toFixed(1)})`;
      const shape = !letter ? svg("circle", { r: 5 }) : letter === "A" ? svg("circle", { r: 12 }) : svg("rect", { x: -11, y: -11, width: 22, height: 22, rx: 4 });
      return svg("g", { class: `point ${letter ? `mark ${letter}` : ""}`, transform: place, onpointerover: () => show(read, said(i)) }, shape, letter && svg("text", { "text-anchor": "middle", dy: "0.36em" }, letter), svg("title", {}, uses[i].tokens.join(" ")));
    });
    show(map, [...points.keys()].sort((a, b) => marks.includes(a) - marks.includes(b)).map((i) => points[i]));
    const distance = (a, b) => Math.hypot(uses[a].at[0] - uses[b].at[0], uses[a].at[1] - uses[b].at[1]);
    const all = uses.flatMap((_, a) => uses.slice(a + 1).map((_, b) => distance(a, a + 1 + b)));
    const ratio = marks.includes(-1) ? NaN : distance(...marks) / (all.reduce((sum, one) => sum + one, 0) / all.length);
    map.setAttribute("aria-label", `${words.map}: ${words.apart(number(ratio, 1))}`);
    map.dataset.apart = ratio.toFixed(3);
  }

  function said(i) {
    const { tokens: said, place: at } = uses[i];
    return [said.slice(0, at).join(" "), " ", h("b", {}, said[at]), " ", said.slice(at + 1).join(" ")];
  }

  function list(side, { best, truth }) {
    const bar = (token, value) => style(h("li", { class: token === look.sentence[look.place] ? "true" : null }, h("span", { class: "word" }, token), h("span", { class: "track" }, h("span", { class: "length" })), h("span", { class: "value" }, `${(100 * value).toFixed(0)} %`)), { "--share": `${100 * value}%` });
    return h("div", { class: `side ${side}` }, h("h3", {}, words[side]), h("ol", {}, best.map(([token, value]) => bar(token, value))), h("p", { class: "value" }, words.truth(look.sentence[look.place], `${(100 * truth).toFixed(1)} %`)));
  }

  function gateTable(steps) {
    const rows = ["input", "forget", "output", "memory"].map((name) => h("tr", {}, h("th", { scope: "row" }, words[name]), steps.map((step) =>
      style(h("td", { class: step[name] < 0 ? "below" : null }, number(step[name], 1)), { "--near": `${Math.min(100, 100 * Math.abs(step[name])).toFixed(0)}%` }))));
    return scroller(words.gates, h("table", { class: "gates" }, h("thead", {}, h("tr", {}, h("td", {}), steps.map(({ token }) => h("th", { scope: "col" }, token)))), h("tbody", {}, rows)));
  }
}

const picture = (label) => svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });

// The longest of the words that occur most often, for a text whose words of two meanings nobody named.
function frequent(lines) {
  const counts = new Map();
  for (const word of lines.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || b.length - a.length).slice(0, 12).reduce((best, [word]) => (word.length > best.length ? word : best), "");
}
