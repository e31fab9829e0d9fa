// Taking a view elsewhere: a link, a page that needs no server, a picture, and the same as code.

import { h } from "./dom.js";
import { requests } from "./engine.js";
import { pageOfAnswers } from "./local.js";
import { pairOf } from "./state.js";
import { wordsFor } from "./words.js";

export function download(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// The places whose neighbors and words a saved page has: of a long sentence its beginning, and around the selected token.
const MOST_SAVED = 40;
const saved = ({ tokens, place }) => [...tokens.keys()].filter((i) => i < MOST_SAVED || Math.abs(i - place) <= 1);

// One file with all views of the shown sentences: every token's neighbors and words, the map of the selected ones.
export async function pageWithAnswers(engine, state, info) {
  const model = info.models.find((one) => one.name === state.model);
  const pair = pairOf(state);
  const wanted = [["mixes", null], ["text", { model: state.model }]];
  for (const weights of state.layer === "mix" ? [state, { ...state, layer: "0" }] : [state]) {
    for (const one of pair) for (const place of saved(one)) {
      if (model.text) wanted.push(["neighbors", requests.neighbors(weights, { ...one, place })]);
    }
    if (model.text) wanted.push(["occurrences", requests.occurrences(weights, pair)]);
    wanted.push(["similarity", requests.similarity(weights, pair[0], pair.at(-1))], ["similarity", requests.similarity(weights, pair[0], pair[0])]);
  }
  if (model.has_computation) for (const one of pair) wanted.push(["computation", requests.computation(state, one)]);
  if (model.has_softmax) for (const one of pair) for (const place of saved(one)) {
    wanted.push(["substitutes", requests.substitutes(state, { ...one, place })]);
  }
  const example = { sentences: pair.map((one) => one.tokens), places: pair.map((one) => one.place), works: true, noun: state.noun || null };
  const answers = { info: { ...info, models: [{ ...model, examples: [example] }] } };
  for (const [route, request] of wanted) {
    const answer = await engine.ask(route, request);
    if (answer.partial) throw new Error(wordsFor(state.language).partial);
    answers[request === null ? route : `${route} ${JSON.stringify(request)}`] = answer;
  }
  const kept = JSON.stringify({ is_complete: true, state: { ...state, sentences: pair, b: pair.length - 1 }, answers }).replaceAll("<", "\\u003c");
  return pageOfAnswers(kept);
}

const python = (value) => JSON.stringify(value);
const shell = (text) => (/[\\"$`!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`);
const hasBracket = ({ tokens }) => tokens.some((token) => /[[\]]/.test(token)); // which a mark can't be told from
const bracketed = ({ tokens, place }) => tokens.map((token, i) => (i === place ? `[${token}]` : token)).join(" ");

export function codeOf(state, model) {
  // A real biLM is trained on the command line.
  if (state.view === "learn") return { python: "", command: "elmo prepare TEXT -o my-data --valid-share 0.05\nelmo pretrain configs/pretrain/small.toml --data my-data -o my-run" };
  const pair = pairOf(state);
  const weights = state.layer === "mix" ? `[${state.weights.join(", ")}]` : "None";
  const noun = (i) => requests.neighbors(state, pair[i]).noun;
  const given = pair.map((one) => `${python(one.tokens)}, ${one.place}`);
  const sentences = [pair[0].tokens, (state.within ? pair[0] : pair.at(-1)).tokens].map(python);
  const follow = pair[Math.min(state.follow, pair.length - 1)];
  const [imported, ...calls] = {
    neighbors: ["elmo.analysis.neighbors.query import neighbors", ...given.map((one, i) => `print(neighbors(explored.index(), embedder, ${one}, 6, weights=${weights}${noun(i) ? `, noun=${python(noun(i))}` : ""}))`)],
    map: ["elmo.analysis.neighbors.occurrence_map import occurrence_map", `marked = [${given.map((one) => `(${one})`).join(", ")}]`, `found = occurrence_map(explored.index(), embedder, marked, weights=${weights}, limit=300)`, "print(found.layers[-1].points)"],
    compare: ["elmo import similarity", `print(similarity(*embedder.embed([${sentences.join(", ")}], layers=${state.layer === "mix" ? weights : state.layer})))`],
    gap: [null, ...given.map((one) => `print(explored.model.substitutes(${one}, 10))`)],
    computation: [null, `(layers,) = embedder.embed([${python(follow.tokens)}])`, `print(layers[:, ${follow.place}])`],
  }[state.view];
  const load = [
    "from elmo.explorer.explored import Explored", ...(imported ? [`from ${imported}`] : []), "",
    `explored = Explored.load(${python(state.model)})`, "embedder = explored.model.embedder",
  ];
  const commands = {
    neighbors: ["elmo index TEXT -o my-index" + (state.model === "small-en" ? "" : ` -m ${state.model}`), `elmo neighbors my-index ${pair.map((one) => shell(bracketed(one))).join(" ")}${noun(0) ? ` --noun ${shell(noun(0))}` : ""}`],
    map: [], compare: [], computation: [],
    gap: pair.map((one) => `elmo substitutes ${state.model} ${shell(bracketed(one))}`),
  };
  const command = pair.some(hasBracket) ? "" : commands[state.view].join("\n");
  return { python: [...load, ...calls].join("\n"), command };
}

// A view as SVG: what the browser has laid out, drawn again as boxes, lines of text and shapes.
export function svgOf(element) {
  const frame = element.getBoundingClientRect();
  const page = getComputedStyle(document.body);
  const parts = [];
  const escape = (text) => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
  const at = (box) => `x="${(box.left - frame.left).toFixed(1)}" y="${(box.top - frame.top).toFixed(1)}" width="${box.width.toFixed(1)}" height="${box.height.toFixed(1)}"`;
  (function walk(node) {
    if (node.nodeType === Node.TEXT_NODE) return text(node);
    if (node.nodeType !== Node.ELEMENT_NODE || node.classList.contains("hidden")) return;
    const box = node.getBoundingClientRect(), look = getComputedStyle(node);
    if (look.visibility === "hidden" || look.display === "none" || !box.width) return;
    if (node.tagName === "svg") return parts.push(picture(node, box));
    if (look.backgroundColor !== "rgba(0, 0, 0, 0)") parts.push(`<rect ${at(box)} rx="${parseFloat(look.borderTopLeftRadius) || 0}" fill="${look.backgroundColor}"/>`);
    node.childNodes.forEach(walk);
  })(element);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${frame.width.toFixed(0)}" height="${frame.height.toFixed(0)}" viewBox="0 0 ${frame.width.toFixed(0)} ${frame.height.toFixed(0)}"><rect width="100%" height="100%" fill="${page.backgroundColor}"/>${parts.join("")}</svg>\n`;

  function text(node) {
    if (!node.data.trim()) return;
    const look = getComputedStyle(node.parentElement);
    for (const { content, box } of linesOf(node)) {
      parts.push(`<text x="${(box.left - frame.left).toFixed(1)}" y="${(box.top - frame.top + 0.77 * box.height).toFixed(1)}" textLength="${box.width.toFixed(1)}" lengthAdjust="spacingAndGlyphs" font-family="${escape(look.fontFamily)}" font-size="${look.fontSize}" font-weight="${look.fontWeight}" fill="${look.color}">${escape(content)}</text>`);
    }
  }

  function picture(node, box) {
    const copy = node.cloneNode(true), originals = node.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((part, i) => {
      const look = getComputedStyle(originals[i]);
      if (look.display === "none") return part.setAttribute("display", "none");
      for (const name of ["fill", "stroke", "stroke-width", "opacity", "fill-opacity", "font-family", "font-size", "font-weight"]) part.setAttribute(name, look.getPropertyValue(name));
      if (look.transform !== "none") part.setAttribute("transform", look.transform);
      part.removeAttribute("style");
    });
    for (const [name, value] of Object.entries({ x: box.left - frame.left, y: box.top - frame.top, width: box.width, height: box.height })) copy.setAttribute(name, value.toFixed(1));
    return new XMLSerializer().serializeToString(copy);
  }
}

// The lines that a text is broken into, with their boxes.
function linesOf(node) {
  const lines = [], range = document.createRange();
  for (let i = 0; i < node.length; i++) {
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    const last = lines.at(-1);
    if (last && Math.abs(last.top - box.top) < 2) [last.end, last.right] = [i + 1, box.right];
    else lines.push({ start: i, end: i + 1, left: box.left, right: box.right, top: box.top, height: box.height });
  }
  return lines.map(({ start, end, left, right, top, height }) => ({ content: node.data.slice(start, end), box: { left, top, width: right - left, height } }));
}
