// How it is computed: one word from its bytes through the char CNN, the two directions and the mix, in numbered steps.

import { badge, brief, h, number, show, style } from "../dom.js";
import { requests } from "../engine.js";
import { pairOf } from "../state.js";
import { select } from "../sentences.js";
import { byteGrid, columns, figure, formula, indexed, largest, named, paint, strip } from "./strips.js";

export const computationView = {
  async load(engine, state, info) {
    const one = followed(state), [before, after] = beside(one).map((place) => ({ ...one, place }));
    const expected = ({ place }) => (info.has_softmax && one.tokens[place] !== undefined
      ? engine.ask("substitutes", requests.substitutes(state, { ...one, place })).catch(() => null) : null);
    const [computed, ...words] = await Promise.all([engine.ask("computation", requests.computation(state, one)), expected(before), expected(after)]);
    return { computed, expected: words };
  },

  draw(element, { state, info, words: { steps: words }, data: { computed, expected }, change, engine }) {
    const one = followed(state), word = brief(one.tokens[one.place]), { sizes } = computed;
    const keeping = sizes.forget_bias ? `σ(f + ${sizes.forget_bias})` : "σ(f)";
    const lstms = computed.readings[0].layers.map((_, i) => i + 1);
    const steps = [bytes(), embedding(), convolution(), highway(), ...lstms.map(lstm), mix(), prediction()];
    show(element, followBar(), h("div", { class: "computed" }, rail(), h("div", { class: "steps" }, steps.map(section))));
    element.querySelectorAll(".grid").forEach((grid) => {
      if (grid.scrollWidth > grid.clientWidth) grid.tabIndex = 0;
      grid.scrollLeft = Number(grid.dataset.best ?? 0) - grid.clientWidth / 3;
    });
    watch(element);

    function followBar() {
      const pair = pairOf(state);
      return h("div", { class: "follow" }, pair.length > 1 && h("div", { class: "segments", role: "group", "aria-label": words.follow },
        pair.map((it, i) => h("button", { id: `follow-${i}`, "aria-pressed": String(it === one), onclick: () => change({ follow: i }) }, badge("AB"[i]), ` ${brief(it.tokens[it.place])}`))),
        h("p", {}, words.lead(word, one.tokens.length)));
    }

    function rail() {
      return h("ol", { class: "rail", "aria-label": words.all }, steps.map(({ title, shape }, i) => h("li", {},
        h("button", { id: `to-step-${i + 1}`, onclick: () => goTo(element, i + 1) }, h("i", {}, String(i + 1)), h("span", {}, title, h("small", {}, shape))))));
    }

    function section({ title, shape, plain, equation, worked, figures, layer }, i) {
      return h("section", { class: "step", id: `step-${i + 1}`, "aria-labelledby": `step-title-${i + 1}` },
        h("h2", { id: `step-title-${i + 1}`, tabindex: "-1" }, h("i", {}, String(i + 1)), h("span", { class: "title" }, title), h("span", { class: "shape" }, shape)),
        h("p", { class: "plain" }, plain), figures,
        h("div", { class: "by" }, [equation].flat().map(formula), worked && (worked.nodeType ? worked : h("p", { class: "worked" }, h("span", { class: "label" }, words.worked), indexed(sums(worked))))),
        layer !== undefined && layer === state.layer && h("p", { class: "chosen-layer" }, words.chosen(layer)));
    }

    function bytes() {
      const kept = computed.letters.reduce((sum, letter) => sum + letter.ids.length, 0), padding = sizes.characters - kept;
      const box = (text, ids, kind) => h("div", { class: `spelled ${kind}` }, h("b", {}, text),
        h("span", { class: "ids" }, ids.map((id) => h("span", {}, h("small", {}, kind ? " " : String(id - 1)), String(id)))));
      return {
        title: words.bytes, shape: `(${sizes.characters})`, plain: words.bytesPlain(computed.cut),
        figures: h("div", { class: "spelling" }, computed.letters.map(({ text, ids }, i) => box(text ?? (i ? words.end : words.begin), ids, text === null ? "mark-of" : ids[0] === 257 || ids[0] === 258 ? "boundary" : "")),
          padding > 0 && box(words.padding(padding), [261], "mark-of")),
        equation: words.bytesEquation,
      };
    }

    function embedding() {
      const below = Object.assign([...computed.characters], { scale: largest(computed.characters) });
      return {
        title: words.embedding, shape: `(${sizes.characters}) → (${sizes.characters}, ${sizes.character_dim})`, plain: words.embeddingPlain(sizes.character_dim),
        figures: [byteGrid(computed.letters, { below, rows: sizes.character_dim, tall: 8, label: words.embedding }), scaleBar(below.scale)],
        equation: "e_t = E[id_t]",
        worked: `e_1 = (${computed.characters[1].slice(0, 4).map(figure).join(", ")}, …)`,
      };
    }

    function convolution() {
      const { filters, covered, letters } = computed;
      const best = filters.flatMap((one) => one.best.map((it) => ({ ...it, width: one.width }))).reduce((a, b) => (b.value > a.value ? b : a));
      const most = Math.max(...filters.flatMap((one) => one.best.flatMap((it) => it.profile)));
      const positive = filters.reduce((sum, one) => sum + one.positive, 0);
      return {
        title: words.cnn, shape: `(${sizes.characters}, ${sizes.character_dim}) → (${sizes.features.toLocaleString("en")})`, plain: words.cnnPlain(filters.length),
        figures: [
          h("h3", {}, words.covered(positive, sizes.features)),
          byteGrid(letters, { above: Object.assign([...covered], { most: Math.max(...covered, 1), best: covered.indexOf(Math.max(...covered)) }), counts: covered, column: 34, label: words.coveredLabel(covered) }),
          h("h3", {}, words.strongest), h("p", { class: "muted first" }, words.profile),
          h("div", { class: "widths" }, filters.map(({ width, number: count, positive: fired, best: three }) => h("div", { class: "width" },
            h("p", { class: "muted" }, h("b", {}, words.width(width)), ` ${words.fired(fired, count)}`),
            three.map((filter) => h("div", { class: "filter" },
              h("p", {}, h("span", { class: "muted" }, words.filter(filter.index)), h("b", {}, figure(filter.value))),
              byteGrid(letters, { above: Object.assign(filter.profile.map((value) => Math.max(0, value)), { most, best: filter.start }), marked: span(filter.start, width), column: 17, tall: 9, label: words.window(windowText(letters, filter.start, width)) })))))),
        ],
        equation: `y_i = ${sizes.activation}( b_i + max_t Σ_u W_i[u] · e_{t+u} )`,
        worked: `y_{${best.index}} = ${sizes.activation}( ${figure(best.bias)} + ${figure(best.profile[best.start])} ) = ${figure(best.value)}   ${words.onWindow(windowText(letters, best.start, best.width), best.width)}`,
      };
    }

    function highway() {
      const vector = computed.layers[0].slice(0, sizes.projection), shown = vector.slice(0, 32);
      const features = sizes.features.toLocaleString("en");
      const parts = computed.highways.map((layer, i) => {
        const scale = largest(layer.before, layer.after);
        return h("div", { class: "strips" }, computed.highways.length > 1 && h("h3", {}, words.highwayLayer(i + 1)),
          named(words.before, layer.before, scale), named(words.gate, layer.gate, 1), named(words.transformed, layer.transformed, scale), named(words.after, layer.after, scale),
          h("p", { class: "muted first" }, words.largest(layer.before.length, sizes.features)),
          h("h3", {}, words.gates(layer.gate_mean, sizes.features)),
          columns(layer.histogram.map((value, tenth) => ({ name: `.${tenth}`, value })), { format: String }));
      });
      const last = computed.highways.at(-1), at = last ? mostMixed(last) : 0;
      return {
        title: words.highway, shape: `(${features}) → (${features}) → (${sizes.projection})`, plain: words.highwayPlain, layer: "0",
        figures: [parts, h("h3", {}, words.projection(sizes.projection)), h("div", { class: "strips" }, named("x_k", shown, largest(shown)))],
        equation: ["T = σ( W_T y + b_T )", "y′ = T * relu( W_H y + b_H ) + (1 − T) * y", "x_k = W y′ + b"],
        worked: last && `y′_{${computed.shown[at]}} = ${figure(last.gate[at])} · ${figure(last.transformed[at])} + ${figure(1 - last.gate[at])} · ${figure(last.before[at])} = ${figure(last.after[at])}`,
      };
    }

    function lstm(layer) {
      const hasSkip = layer > 1 && sizes.skips;
      const clipped = (inner, bound) => (bound === null ? inner : `clip( ${inner} )`);
      const { cell, reads, incoming } = computed.readings[0].layers[layer - 1], own = reads.at(-1).state[0];
      return {
        title: words.lstm(layer), shape: `2 × (${sizes.projection}) → 2 × (${sizes.projection})`, layer: String(layer),
        plain: layer === 1 ? words.firstPlain : words.nextPlain(layer, hasSkip),
        figures: [
          h("div", { class: "directions" }, computed.readings.map((reading) => direction(reading, layer))),
          hasSkip && h("div", { class: "skip" }, h("h3", {}, words.skip), computed.readings.map((reading) => skip(reading, layer))),
        ],
        equation: hasSkip ? `h_{k,${layer}} = h′ + h_{k,${layer - 1}}`
          : [`c′ = ${clipped(`${keeping} * c + σ(i) * tanh(j)`, sizes.cell_clip)}`, `h′ = ${clipped("W_P ( σ(o) * tanh(c′) )", sizes.projection_clip)}`],
        worked: hasSkip ? `h_{k,${layer}}[1] = ${figure(own)} + ${figure(incoming[0])} = ${figure(own + incoming[0])}` : `c′_{${cell.index}} = ${figure(cell.forget)} · ${figure(cell.before)} + ${figure(cell.input)} · ${figure(cell.candidate)} = ${figure(cell.after)}   ${words.oneCell(sizes.cells)}`,
      };
    }

    function direction({ direction: name, tokens, layers, cuts }, layer) {
      const { reads, earlier } = layers[layer - 1], scale = largest(reads.map((read) => read.state));
      const order = name === "forward" ? ["<S>", ...one.tokens.slice(0, one.place + 1)] : ["</S>", ...one.tokens.slice(one.place).reverse()];
      const shown = order.slice(-reads.length), least = Math.max(0.05, ...reads.map((read) => read.share));
      const all = order.length - 2;
      const bars = [...cuts.map((cut) => ({ name: String(cut.words), value: cut.cosines[layer - 1] })), { name: words.everything(all), value: 1, strong: true }];
      return h("div", { class: `direction ${name}` }, h("h3", {}, name === "forward" ? words.forward(word) : words.backward(word)),
        h("table", {}, h("caption", { class: "hidden" }, words.reads(name, layer)),
          h("thead", {}, h("tr", {}, [words.token, words.state(reads[0].state.length, sizes.projection), `${words.kept} ${keeping}`, words.written, words.share].map((text) => h("th", { scope: "col" }, text)))),
          h("tbody", {}, tokens > reads.length && h("tr", { class: "earlier" }, h("th", { scope: "row" }, "…"), h("td", { class: "muted", colspan: "3" }, words.earlier(tokens - reads.length)), h("td", {}, share(earlier, least))),
            reads.map((read, i) => h("tr", { class: i === reads.length - 1 ? "self" : null }, h("th", { scope: "row" }, shown[i]),
              h("td", {}, strip(read.state, scale, shown[i], 16)), h("td", {}, number(read.forget)), h("td", {}, number(read.input)), h("td", {}, share(read.share, least)))))),
        h("p", { class: "cut" }, words.cut(word, name)), columns(bars, { most: 1, format: (value) => number(value) }));
    }

    function skip({ direction: name, layers }, layer) {
      const { reads, incoming } = layers[layer - 1], own = reads.at(-1).state, sum = own.map((value, i) => value + incoming[i]);
      const scale = largest(own, incoming, sum);
      return h("div", { class: "strips" }, named(name === "forward" ? "→ h′" : "← h′", own, scale), named(`+ h_{k,${layer - 1}}`, incoming, scale), named(`= h_{k,${layer}}`, sum, scale));
    }

    function mix() {
      const scale = largest(computed.layers) * 0.4, sum = strip(computed.layers[0], scale, words.mixed, 30), facts = h("p", { class: "worked", id: "mix-worked" });
      const shares = computed.layers.map(() => h("output", {})), w = weightsOf(state), gammaShown = h("output", {});
      let gamma = Number(element.dataset.gamma ?? 1);
      const slider = (id, value, [min, max], label, moved, done) => h("input", { id, type: "range", min, max, step: "0.1", value: String(value), "aria-label": label, oninput: (event) => { moved(Number(event.target.value)); mixed(); }, onchange: done });
      // What is mixed here is what the other views show, where they can compute it.
      const done = () => !engine.isComplete && change({ layer: "mix", weights: softmax(w).map((share) => Number(share.toFixed(3))) });
      function mixed() {
        const s = softmax(w), total = computed.layers[0].map((_, i) => gamma * computed.layers.reduce((all, layer, j) => all + s[j] * layer[i], 0));
        paint(sum, total, scale);
        s.forEach((share, j) => shares[j].replaceChildren(...indexed(`s_${j} = ${number(share)}`)));
        gammaShown.replaceChildren(`γ = ${number(gamma, 1)}`);
        element.dataset.gamma = gamma;
        facts.replaceChildren(h("span", { class: "label" }, words.worked), ...indexed(sums(`ELMo_{k}[1] = ${number(gamma, 1)} · ( ${s.map((share, j) => `${number(share)} · ${figure(computed.layers[j][0])}`).join(" + ")} ) = ${figure(total[0])}`)));
      }
      const figures = h("div", { class: "mixing" },
        h("div", { class: "layer halves muted" }, h("span"), h("span", {}, computed.readings.map(({ direction: name }) => h("span", {}, words.half(name)))), h("span", {}, words.weights)),
        computed.layers.map((layer, j) => h("div", { class: `layer ${state.layer === String(j) ? "chosen" : ""}` }, h("span", { class: "name" }, words.layer(j)), strip(layer, scale, words.layer(j), 30),
          h("span", { class: "weigh" }, slider(`w-${j}`, w[j].toFixed(1), [-4, 4], words.weight(j), (value) => { w[j] = value; }, done), shares[j]))),
        h("div", { class: "layer sum" }, h("span", { class: "name" }, words.mixed), sum, h("span", { class: "weigh" }, slider("gamma", gamma, [0.1, 2], "γ", (value) => { gamma = value; }), gammaShown)));
      mixed();
      return {
        title: words.mix, shape: `(${computed.layers.length}, ${computed.layers[0].length}) → (${computed.layers[0].length})`, layer: "mix",
        plain: words.mixPlain(computed.layers.length), figures, worked: facts, equation: "ELMo_k = γ Σ_j s_j h_{k,j}        s = softmax(w)",
      };
    }

    function prediction() {
      const sides = beside(one).map((place, i) => ({ place, found: expected[i]?.[["backward", "forward"][i]], title: [words.previous, words.next][i](word) }))
        .filter((_, i) => computed.readings.some((reading) => reading.direction === ["backward", "forward"][i]));
      return {
        title: words.prediction, shape: sizes.words ? `2 × (${sizes.projection}) → 2 × (${sizes.words.toLocaleString("en")})` : "", plain: info.has_softmax ? words.predictionPlain : words.noSoftmax,
        figures: info.has_softmax && h("div", { class: "directions" }, sides.map(({ place, found, title }) => h("div", { class: "direction" }, h("h3", {}, title),
          one.tokens[place] === undefined ? h("p", { class: "muted" }, words.edge) : !found ? h("p", { class: "muted" }, words.notHere) : [
            h("ol", { class: "expected" }, found.best.slice(0, 5).map(([token, value]) => item(token, value, token === one.tokens[place])),
              !found.best.slice(0, 5).some(([token]) => token === one.tokens[place]) && item(one.tokens[place], found.probability, true, found.rank)),
            h("button", { class: "quiet to-gap", id: `to-gap-${place}`, onclick: () => change({ ...select(state, state.sentences.indexOf(one), place), view: "gap" }) }, words.toGap(brief(one.tokens[place])), " →")]))),
        equation: "p( t | context ) = softmax( W h_{k,L} + b )".replace("L", lstms.length),
      };
    }

    function item(token, value, isTrue, rank) {
      return style(h("li", { class: isTrue ? "true" : null }, h("span", {}, brief(token), isTrue && h("span", { class: "muted" }, ` ${words.actual}`)),
        h("span", { class: "value" }, value === null ? words.unknown : `${rank ? `${words.rank(rank)} · ` : ""}${value < 1e-4 ? "<0.01" : number(100 * value, value < 0.1 ? 2 : 1)} %`)), { "--share": `${100 * (value ?? 0)}%` });
    }

    function scaleBar(most) {
      const values = Array.from({ length: 21 }, (_, i) => (i - 10) / 10);
      return h("p", { class: "scale muted" }, figure(-most), strip(values, 1, words.colors, 10), figure(most), h("span", {}, words.colors));
    }
  },

  // To the next or previous step.
  step(element, by) {
    const shown = [...element.querySelectorAll(".rail button")].findIndex((button) => button.getAttribute("aria-current") === "step");
    goTo(element, Math.max(1, Math.min(element.querySelectorAll(".step").length, shown + 1 + by)));
  },
};

const followed = (state) => pairOf(state)[Math.min(state.follow, pairOf(state).length - 1)];
const beside = ({ place }) => [place - 1, place + 1];
const span = (start, width) => Array.from({ length: width }, (_, i) => start + i);

// The letters that a window of bytes touches.
function windowText(letters, start, width) {
  let at = 0;
  const touched = letters.map(({ text, ids }, i) => {
    const from = at;
    at += ids.length;
    return from < start + width && at > start ? text ?? (i ? "⟩" : "⟨") : "";
  });
  return touched.join("") + (start + width > at ? "…" : "");
}

// a + -b as a - b, and a · -b as a · (-b).
const sums = (text) => text.replaceAll("+ −", "− ").replace(/· (−[\d.]+)/g, "· ($1)");

// Of the shown features, one of which much is carried and much transformed.
const mostMixed = ({ gate, transformed, before }) =>
  gate.map((share, i) => Math.min(share * transformed[i], (1 - share) * before[i])).reduce((best, value, i, all) => (value > all[best] ? i : best), 0);

const share = (value, most) => h("span", { class: "share-of" }, style(h("i", {}), { "--share": (value / most).toFixed(3) }), `${(100 * value).toFixed(0)} %`);

function softmax(w) {
  const powers = w.map((value) => Math.exp(value - Math.max(...w)));
  return powers.map((value) => value / powers.reduce((sum, one) => sum + one, 0));
}

// The w whose softmax are the mix's weights; 0 would need minus infinity.
function weightsOf({ layer, weights }) {
  if (layer !== "mix") return weights.map(() => 0);
  const logs = weights.map((weight) => Math.log(Math.max(weight, 1e-9))), most = Math.max(...logs);
  return logs.map((value) => Math.max(-4, value - most));
}

function goTo(element, at) {
  // Steps that are scrolled past on the way don't become the current one.
  element.target = at;
  clearTimeout(element.arriving);
  element.arriving = setTimeout(() => { element.target = null; }, 1000);
  const title = element.querySelector(`#step-title-${at}`);
  if (!title) return;  // the steps are not there yet, or can't be
  title.focus({ preventScroll: true });
  title.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth", block: "start" });
  current(element, at);
}

function current(element, at) {
  element.querySelectorAll(".rail button").forEach((button, i) => (i + 1 === at ? button.setAttribute("aria-current", "step") : button.removeAttribute("aria-current")));
}

// The step in the upper part of the window is the current one.
function watch(element) {
  element.watching?.disconnect();
  element.watching = new IntersectionObserver((seen) => {
    const shown = seen.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => Number(target.id.slice(5)));
    shown.filter((at) => at === (element.target ?? at)).forEach((at) => current(element, at));
  }, { rootMargin: "-12% 0px -80% 0px" });
  element.querySelectorAll(".step").forEach((step) => element.watching.observe(step));
  if (!element.querySelector('[aria-current="step"]')) current(element, 1);
}
