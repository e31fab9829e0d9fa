// Map: every occurrence of the word as a point, moving from layer to layer, with lines to its true neighbors.

import { brief, h, number, show, svg } from "../dom.js";
import { requests } from "../engine.js";
import { layerIndex, pairOf } from "../state.js";
import { sensesNote } from "../trust.js";
import { HEIGHT, WIDTH, include, zoomable, zoomButtons } from "./zoom.js";

const EDGE = 34;

export const mapView = {
  load: (engine, state) => engine.ask("occurrences", requests.occurrences(state, pairOf(state))),

  draw(element, { state, info, words, data }) {
    const layer = data.layers[layerIndex(state, data)];
    const key = JSON.stringify([state.model, pairOf(state), state.language, state.layer === "mix" && state.weights]);
    if (element.dataset.key !== key || !element.querySelector("svg.map")) build(element, state, words, data);
    element.dataset.key = key;
    move(element, data, layer);
    show(element.querySelector(".facts"), facts(state, words, data, layer), !isEmpty(data) && sensesNote({ state, info, words }));
  },
};

const occurrencesIn = (data) => data.points.filter((point) => point.mark === null).length;
const isEmpty = (data) => occurrencesIn(data) < 3;

function build(element, state, words, data) {
  const pair = pairOf(state);
  const order = [...data.points.keys()].reverse();  // A and B are drawn last, above the others
  const points = svg("g", { class: "points" }, order.map((i) => pointMark(i, data)));
  const picture = svg("svg", { class: "map", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", tabindex: "0", "aria-label": words.mapLabel },
    svg("g", { class: "lines" }), points);
  const reader = h("div", { class: "reader", "aria-live": "polite" }, h("p", { class: "muted" }, words.hover, h("span", { class: "keyboard" }, ` ${words.hoverKeys}`)),
    h("p", { class: "muted keyboard" }, words.zoomKeys), h("p", { class: "muted touch" }, words.zoomTouch));
  const legend = h("ul", { class: "legend" }, pair.map((one, i) => h("li", {}, h("span", { class: `badge ${"AB"[i]}` }, "AB"[i]), h("span", { class: "word" }, one.tokens[one.place]),
    pair.length > 1 && h("span", { class: "muted" }, h("span", { class: `dot ${"AB"[i]}` }), words.nearerTo("AB"[i])))));
  const found = h("output", { class: "muted", for: "find" });
  const search = h("input", { id: "find", class: "typing", type: "search", placeholder: words.findShort, "aria-label": words.find, maxlength: "100", autocomplete: "off", spellcheck: "false" });
  show(element, h("div", { class: "mapped" },
    h("div", {}, h("div", { class: "map-tools" }, search, found, h("span", { class: "grow" }), zoomButtons(picture, words)), picture),
    h("aside", {}, legend, reader, h("div", { class: "facts" }))));
  const focus = (i) => read(element, words, data, Number(i));
  points.addEventListener("pointerover", (event) => event.target.closest("[data-i]") && focus(event.target.closest("[data-i]").dataset.i));
  points.addEventListener("focusin", (event) => focus(event.target.closest("[data-i]").dataset.i));
  picture.addEventListener("keydown", (event) => step(event, element, data));
  zoomable(picture);
  element.hits = [];
  search.addEventListener("input", () => find(element, words, data, search.value, found));
  search.addEventListener("keydown", (event) => event.key === "Enter" && next(element, focus));
}

function pointMark(i, data) {
  const { mark, tokens, position } = data.points[i];
  const attributes = { "data-i": i, tabindex: "-1", role: "img", "aria-label": tokens.map((token, at) => (at === position ? `[${token}]` : token)).join(" ") };
  if (mark !== null) {
    const letter = "AB"[mark];
    const shape = mark === 0 ? svg("circle", { r: 15 }) : svg("rect", { x: -14, y: -14, width: 28, height: 28, rx: 5 });
    return svg("g", { ...attributes, class: `point mark ${letter}` }, shape, svg("text", { "text-anchor": "middle", dy: "0.36em" }, letter));
  }
  return svg("g", { ...attributes, class: "point" }, svg("circle", { class: "round", r: 5.5 }), svg("rect", { class: "square", x: -5, y: -5, width: 10, height: 10, rx: 1.5 }));
}

// One scale for all layers, so that a layer in which nothing differs is one point.
function placesOf(data, layer) {
  const most = data.layers.flatMap((one) => one.points).reduce((size, [x, y]) => [Math.max(size[0], Math.abs(x)), Math.max(size[1], Math.abs(y))], [1e-6, 1e-6]);
  const scale = Math.min((WIDTH / 2 - EDGE) / most[0], (HEIGHT / 2 - EDGE) / most[1]);
  return layer.points.map(([x, y]) => [WIDTH / 2 + scale * x, HEIGHT / 2 - scale * y]);
}

function move(element, data, layer) {
  const places = placesOf(data, layer);
  for (const point of element.querySelectorAll("[data-i]")) {
    const i = Number(point.dataset.i);
    point.style.transform = `translate(${places[i][0].toFixed(1)}px, ${places[i][1].toFixed(1)}px)`;
    const [a, b] = layer.to_marks[i];
    const nearer = b === undefined || layer.variance === null ? "" : a >= b ? "A" : "B";
    if (data.points[i].mark === null) for (const letter of "AB") point.classList.toggle(letter, letter === nearer);
    point.classList.remove("read");
  }
  element.layer = layer;
  element.places = places;
  show(element.querySelector(".lines"));
}

function read(element, words, data, i) {
  const { layer, places } = element;
  element.querySelector(".point.read")?.classList.remove("read");
  element.querySelector(`[data-i="${i}"]`).classList.add("read");
  show(element.querySelector(".lines"), ...(layer.variance === null ? [] : layer.nearest[i].map((j) =>
    svg("line", { x1: places[i][0], y1: places[i][1], x2: places[j][0], y2: places[j][1] }))));
  const { tokens, position } = data.points[i];
  const [a, b] = layer.to_marks[i];
  show(element.querySelector(".reader"),
    h("p", { class: "line" }, tokens.slice(0, position).join(" "), " ", h("b", {}, tokens[position]), " ", tokens.slice(position + 1).join(" ")),
    h("p", { class: "muted" }, `${words.cosine}: A ${number(a)}`, b !== undefined && ` · B ${number(b)}`));
}

// The points whose sentences hold what was typed stay, the others fade.
function find(element, words, data, typed, count) {
  const wanted = typed.trim().toLowerCase();
  const matches = data.points.map(({ tokens }) => wanted !== "" && tokens.join(" ").toLowerCase().includes(wanted));
  element.querySelector("svg.map").classList.toggle("searching", wanted !== "");
  for (const point of element.querySelectorAll("[data-i]")) point.classList.toggle("found", matches[point.dataset.i]);
  element.hits = [...matches.keys()].filter((i) => matches[i]);
  element.at = -1;
  count.textContent = wanted === "" ? "" : words.foundIn(element.hits.length, data.points.length);
}

function next(element, focus) {
  if (!element.hits.length) return;
  element.at = (element.at + 1) % element.hits.length;
  const i = element.hits[element.at];
  focus(i);
  include(element.querySelector("svg.map"), element.places[i]);
}

// The nearest point in the direction of an arrow key.
function step(event, element, data) {
  const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!direction) return;
  event.preventDefault();
  event.stopPropagation();
  const from = event.target.closest("[data-i]");
  const { places } = element;
  const to = (i) => {
    element.querySelector(`[data-i="${i}"]`).focus({ preventScroll: true });
    include(element.querySelector("svg.map"), places[i]);
  };
  if (!from) return to(0);
  const [x, y] = places[from.dataset.i];
  let best = null, least = Infinity;
  for (let i = 0; i < data.points.length; i++) {
    const [dx, dy] = [places[i][0] - x, places[i][1] - y];
    const along = dx * direction[0] + dy * direction[1], across = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
    if (along > 0.5 && along + 2 * across < least) [best, least] = [i, along + 2 * across];
  }
  if (best !== null) to(best);
}

function facts(state, words, data, layer) {
  const names = [...new Set(pairOf(state).map((one) => brief(one.tokens[one.place])))].join(", ");
  const measured = layer.variance === null ? [words.onePoint] : [words.variance(state.layer, layer.variance), words.kept(layer.kept), words.lines];
  return h("ul", { class: "honest" }, [words.mapOf(names, occurrencesIn(data), data.in_index), ...(isEmpty(data) ? [words.few] : measured)].map((fact) => h("li", {}, fact)));
}
