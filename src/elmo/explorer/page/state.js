// What the page shows, and the same as the part of the address after "#", which no server ever sees.

export const VIEWS = ["neighbors", "map", "compare", "gap", "computation", "learn"];
export const MOST_SENTENCES = 4;
export const MOST_TOKENS = 200;
const THEMES = ["auto", "light", "dark"];
const LANGUAGES = ["en", "ko"];

// The model of the page's language, if there is one.
const first = (info) => info.models.find((model) => navigator.language?.startsWith(model.language || "-")) ?? info.models[0];

export function opening(info, model = first(info)) {
  const example = model.examples[0] ?? { sentences: [["hello"]], places: [0] };
  const third = Number((1 / model.layers).toFixed(2));
  return {
    model: model.name,
    sentences: example.sentences.map((tokens, i) => ({ tokens, place: example.places[i] })),
    b: Math.min(1, example.sentences.length - 1),
    noun: example.noun ?? "",
    view: "neighbors",
    layer: String(model.layers - 1),
    weights: Array(model.layers).fill(third),
    within: false,
    follow: 0,
    learn: "1,0.01,16,1",
    theme: "auto",
    language: navigator.language?.startsWith("ko") ? "ko" : "en",
  };
}

export function toFragment(state) {
  const parts = new URLSearchParams();
  parts.set("model", state.model);
  for (const { tokens, place } of state.sentences) parts.append("s", `${place}|${tokens.join(" ")}`);
  if (state.b !== 1) parts.set("b", state.b);
  if (state.noun) parts.set("noun", state.noun);
  parts.set("view", state.view);
  parts.set("layer", state.layer);
  if (state.layer === "mix") parts.set("weights", state.weights.join(","));
  if (state.within) parts.set("within", "1");
  if (state.follow) parts.set("follow", "1");
  if (state.view === "learn") parts.set("learn", state.learn);
  if (state.theme !== "auto") parts.set("theme", state.theme);
  parts.set("lang", state.language);
  return parts.toString();
}

// The same sentences read by another model.
export const readBy = (state, info, name) => ({
  ...opening(info, info.models.find((one) => one.name === name)),
  ...Object.fromEntries(["sentences", "b", "noun", "view", "within", "learn", "theme", "language"].map((name) => [name, state[name]])),
});

// Whatever does not make sense in an address is left at its default.
export function fromFragment(fragment, info) {
  const parts = new URLSearchParams(fragment);
  const model = info.models.find((one) => one.name === parts.get("model")) ?? first(info);
  const state = opening(info, model);
  const sentences = parts.getAll("s").slice(0, MOST_SENTENCES).map(marked).filter(Boolean);
  if (sentences.length) {
    state.sentences = sentences;
    state.noun = (parts.get("noun") ?? "").trim().slice(0, 50);
  }
  state.b = within(Number(parts.get("b") ?? 1), state.sentences.length - 1);
  if (VIEWS.includes(parts.get("view"))) state.view = parts.get("view");
  const weights = (parts.get("weights") ?? "").split(",").map(Number);
  if (weights.length === model.layers && weights.every(Number.isFinite) && weights.some(Boolean)) state.weights = weights;
  const layer = parts.get("layer");
  if (layer === "mix" || (/^\d$/.test(layer ?? "") && Number(layer) < model.layers)) state.layer = layer;
  state.within = parts.get("within") === "1";
  state.follow = Number(parts.get("follow") === "1");
  if (/^\d{1,4}(,[\d.]{1,5}){3}$/.test(parts.get("learn") ?? "")) state.learn = parts.get("learn");
  if (THEMES.includes(parts.get("theme"))) state.theme = parts.get("theme");
  if (LANGUAGES.includes(parts.get("lang"))) state.language = parts.get("lang");
  return state;
}

function marked(text) {
  const [, place, rest] = /^(\d{1,4})\|(.*)$/s.exec(text) ?? [];
  const tokens = rest?.split(/[^\S\ufeff]+/).filter(Boolean) ?? [];
  return tokens.length ? { tokens, place: within(Number(place), tokens.length - 1) } : null;
}

const within = (value, most) => Math.max(0, Math.min(most, Number.isFinite(value) ? Math.trunc(value) : 0));

// A and B: the first sentence and the one that is compared with it; A alone if there is one sentence.
export const pairOf = (state) =>
  state.sentences.length > 1 ? [state.sentences[0], state.sentences[Math.max(1, state.b)]] : [state.sentences[0]];

export const letterOf = (state, i) => (i === 0 ? "A" : i === Math.max(1, state.b) ? "B" : "");

export const layerIndex = (state, answer) => (state.layer === "mix" ? answer.layers.length - 1 : Number(state.layer));

export const nextTheme = (theme) => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
export const nextLanguage = (language) => LANGUAGES[(LANGUAGES.indexOf(language) + 1) % LANGUAGES.length];
