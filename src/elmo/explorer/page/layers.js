// The layer that the views show, or a mix of all layers with its weights.

import { h, number, show } from "./dom.js";

export function layerBar(element, { state, info, mixes, words, change, engine }) {
  const choices = [...Array(info.layers).keys()].map(String);
  const isMix = state.layer === "mix";
  show(element,
    h("span", { class: "label", id: "layer-label" }, words.layer),
    h("div", { class: "segments", role: "group", "aria-labelledby": "layer-label" },
      choices.map((layer) => segment(layer, layer)),
      !engine.isComplete || isMix ? segment("mix", words.mix) : null),
    isMix && mixControls());

  function segment(layer, text) {
    return h("button", { id: `layer-${layer}`, "aria-pressed": String(state.layer === layer), onclick: () => change({ layer }) }, text);
  }

  function mixControls() {
    const mean = { name: words.mean, weights: choices.map(() => Number((1 / choices.length).toFixed(2))) };
    const known = [mean, ...mixes.filter((mix) => mix.weights.length === choices.length)];
    const current = known.findIndex((mix) => mix.weights.join() === state.weights.join());
    return h("div", { class: "mix" },
      h("select", { id: "mix-from", "aria-label": words.mixFrom, disabled: engine.isComplete, onchange: (event) => known[event.target.value] && change({ weights: known[event.target.value].weights }) },
        known.map((mix, i) => h("option", { value: i, selected: i === current }, mix.name)),
        h("option", { value: "own", selected: current < 0 }, words.own)),
      choices.map((layer, i) => h("label", { class: "weight" }, layer,
        h("input", { id: `weight-${layer}`, type: "range", min: "0", max: "1", step: "0.05", value: String(state.weights[i]), disabled: engine.isComplete, "aria-label": words.weightOf(layer), onchange: (event) => change({ weights: weighted(i, Number(event.target.value)) }) }),
        h("output", {}, number(state.weights[i])))));
  }

  // All weights 0 would choose nothing: the moved one then keeps a little.
  function weighted(i, value) {
    const weights = state.weights.map((weight, at) => (at === i ? value : weight));
    return weights.some(Boolean) ? weights : weights.map((weight, at) => (at === i ? 0.05 : weight));
  }
}
