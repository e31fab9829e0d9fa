// The answers to the page's requests, above what an engine gives: the layers of tokens, and words for a place.

import { formsOf } from "./korean.js";
import { computation } from "./computation.js";
import { FirstLook } from "./first_look.js";
import { mixed, pictures } from "./picture.js";
import { Refused, requireSelected, requireSum, requireText, requireTokens, requireWeights } from "./requests.js";
import { dot, drawn, unit } from "./text_index.js";

const MOST_REMEMBERED = 64;

export class Answers {
  // `info`, `mixes`: these answers. `models`: for each model `engine()`, `index()`, `tensors()` and `vocabulary()`, promises
  // of what is loaded when it is first needed, and `complete(index)`, which begins to complete an index.
  constructor(info, mixes, models) {
    this.given = { info, mixes };
    this.facts = Object.fromEntries(info.models.map((one) => [one.name, one]));
    this.models = models;
    this.remembered = new Map();
    this.looks = {};
  }

  // {answer}, whose field "partial" says which share of the text was searched if it wasn't all; or, for tokens with something to say of them, {answer, warning}.
  async answer(route, request) {
    if (route in this.given) return { answer: this.given[route] };
    [request.selected ?? []].flat().forEach(requireSelected);
    const found = await ROUTES[route].call(this, request);
    return route === "tokens" ? found : { answer: found };
  }

  async layersOf(model, tokens) {
    const key = JSON.stringify([model, tokens]);
    if (!this.remembered.has(key)) {
      const engine = await this.models[model].engine();
      const [{ layers, dimensions: dim, data }] = await engine.embed([tokens]);
      this.remembered.set(key, (place) => Array.from({ length: layers }, (_, i) => data.slice((i * tokens.length + place) * dim, (i * tokens.length + place + 1) * dim)));
      if (this.remembered.size > MOST_REMEMBERED) this.remembered.delete(this.remembered.keys().next().value);
    }
    return this.remembered.get(key);
  }

  async indexOf(model) {
    if (this.facts[model].text === null) throw new Refused("there is no text to search for neighbors. Start the page with one: elmo explore --text FILE");
    return this.models[model].index();
  }
}

const ROUTES = {
  async tokens({ text, model }) {
    requireText(text);
    const look = this.looks[model] ??= new FirstLook(await this.models[model].vocabulary());
    const answer = look.tokens(text), warnings = look.warnings(text, answer);
    requireTokens(answer);
    return warnings.length ? { answer, warning: warnings.join("; ") } : { answer };
  },

  async text({ model }) {
    const index = await this.indexOf(model);
    return { tokens: index.size, tokens_in_source: this.models[model].tokensInSource, sentences: index.sentences.length };
  },

  async similarity({ model, a, b, weights }) {
    requireTokens(a);
    requireTokens(b);
    if (weights) requireSum(weights, this.facts[model].layers);
    const [one, other] = [await this.layersOf(model, a), await this.layersOf(model, b)].map((layersAt, i) =>
      [a, b][i].map((_, place) => withMix(layersAt(place), weights).map(unit)));
    return {
      layers: one[0].map((_, layer) => one.map((left) => other.map((right) => rounded(Math.max(-1, Math.min(1, dot(left[layer], 0, right[layer], 0, left[layer].length))))))),
    };
  },

  async substitutes({ model, selected, count }) {
    if (!this.facts[model].has_softmax) {
      throw new Refused(`${model} has no softmax (softmax.safetensors), so it can't predict words. Published models don't have one either; explore one that 'elmo pretrain' made.`);
    }
    const { forward, backward, both } = await (await this.models[model].engine()).substitutes(selected.tokens, selected.place, count);
    return { forward: forward ?? null, backward: backward ?? null, both: both ?? null };
  },

  async computation({ model, selected }) {
    const loaded = this.models[model], words = this.facts[model].has_softmax ? (await loaded.vocabulary()).length : null;
    const [engine, tensor] = await Promise.all([loaded.engine(), loaded.tensors()]);
    return computation({ config: engine.describe().config, tensor, words }, selected.tokens, selected.place);
  },

  async neighbors({ model, selected, count, weights, noun }) {
    const { tokens, place } = selected;
    const index = await this.indexOf(model), layersAt = await this.layersOf(model, tokens);
    if (weights) requireWeights(weights, index.layers);
    await this.models[model].complete(index);
    const words = [tokens[place], ...(noun ? formsOf(noun, index.words) : [])], notSentence = tokens.join(" ");
    await index.fill(new Set(index.occurrences(words).map((token) => index.sentenceOf[token])));
    const share = index.share;
    const search = (cosines, which) => index.search(cosines, { count, words, which, notSentence }).map((hit) => ({ ...hit, cosine: rounded(hit.cosine) }));
    const layers = withMix(layersAt(place), weights).map((vector, i) => {
      const cosines = index.cosines(vector, i < index.layers ? i : weights);
      return { other: search(cosines, "other"), same: search(cosines, "same") };
    });
    return share < 1 ? { layers, partial: share } : { layers };
  },

  async occurrences({ model, selected, weights, limit }) {
    const index = await this.indexOf(model);
    if (weights) requireWeights(weights, index.layers);
    const own = new Set(selected.map(({ tokens }) => tokens.join(" ")));
    const found = index.occurrences(selected.map(({ tokens, place }) => tokens[place])).filter((token) => !own.has(index.lines[index.sentenceOf[token]]));
    const shown = found.length > limit ? drawn(found.length, limit).map((i) => found[i]) : found;
    await index.fill(new Set(shown.map((token) => index.sentenceOf[token])));
    const marked = await Promise.all(selected.map(async ({ tokens, place }) => withMix((await this.layersOf(model, tokens))(place), weights).map(unit)));
    const choices = [...Array(index.layers).keys(), ...(weights ? [weights] : [])];
    const layers = pictures(choices.map((layer, i) => [...marked.map((layersOf) => layersOf[i]), ...shown.map((token) => index.vector(token, layer))]), marked.length);
    return {
      points: [...selected.map(({ tokens, place }, mark) => ({ tokens, position: place, mark })), ...shown.map((token) => ({ tokens: index.place(token).tokens, position: index.place(token).position, mark: null }))],
      in_index: found.length,
      seed: 0,
      layers: layers.map((one) => ({
        points: one.points.map((point) => point.map(rounded)), variance: one.variance === null ? null : rounded(one.variance), kept: Number(one.kept.toFixed(2)),
        nearest: one.nearest, to_marks: one.to_marks.map((row) => row.map(rounded)),
      })),
    };
  },
};

const withMix = (layers, weights) => (weights ? [...layers, mixed(layers, weights)] : layers);
const rounded = (value) => Number(value.toFixed(4));
