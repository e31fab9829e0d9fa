// A tour of one minute: steps beside what they speak of, in the views themselves.

import { brief, h, show } from "./dom.js";
import { pairOf } from "./state.js";

const GAP = 14;

// The steps that a model's page can show: [text, what is pointed at, what is shown].
function stepsFor(info, engine) {
  const top = String(info.layers - 1);
  return [
    ["sentences", ".rows", { view: "neighbors", layer: top }, info.text],
    ["spelling", ".neighbors .row:nth-child(2)", { view: "neighbors", layer: "0" }, info.text],
    ["top", `.neighbors .row:nth-child(${info.layers + 1})`, { view: "neighbors", layer: top }, info.text],
    ["trust", ".view .quality", { view: "neighbors", layer: top }, info.text],
    ["mapBelow", "svg.map", { view: "map", layer: "0" }, info.text],
    ["mapTop", "svg.map", { view: "map", layer: top }, info.text],
    ["compare", ".scroller:has(.matrix)", { view: "compare", layer: top, within: false }, true],
    ["gap", ".gap .sides", { view: "gap", layer: top }, info.has_softmax],
    ["computation", ".view", { view: "computation", layer: top }, info.has_computation],
    [engine.isComplete ? "yoursKept" : "yours", ".sentences", { view: info.text ? "neighbors" : "compare", layer: top }, true],
  ].filter(([, , , isThere]) => isThere);
}

export class Tour {
  // `change(changes)` shows a state, and `current()` gives what is shown: {state, info, words, engine}.
  constructor({ change, current, opening, ended }) {
    Object.assign(this, { change, current, ended });
    this.before = current().state;
    this.steps = stepsFor(current().info, current().engine);
    this.ring = h("div", { class: "tour-ring", "aria-hidden": "true" });
    this.card = h("div", { class: "tour", id: "tour-card", role: "dialog", "aria-labelledby": "tour-title", "aria-describedby": "tour-text", onkeydown: (event) => this.onKey(event) });
    document.getElementById("app").append(this.ring, this.card);
    this.again = () => this.place();
    addEventListener("resize", this.again);
    this.go(0, opening);
  }

  go(step, more = {}) {
    this.step = step;
    this.isNew = true;
    return this.change({ ...more, ...this.steps[step][2] });
  }

  // After each drawing of the page.
  draw() {
    const { state, words } = this.current();
    const [title, text] = words.tour[this.steps[this.step][0]];
    const isLast = this.step === this.steps.length - 1;
    show(this.card,
      h("div", { class: "tour-head" }, h("h2", { id: "tour-title", tabindex: "-1" }, title),
        h("button", { id: "tour-end", class: "quiet icon", title: words.tour.end, "aria-label": words.tour.end, onclick: () => this.end() }, "×")),
      h("p", { id: "tour-text" }, text(...pairOf(state).map((one) => brief(one.tokens[one.place])))),
      h("div", { class: "tour-tools" }, h("span", { class: "muted" }, words.tour.step(this.step + 1, this.steps.length)), h("span", { class: "grow" }),
        this.step > 0 && h("button", { id: "tour-back", class: "quiet", onclick: () => this.go(this.step - 1) }, words.tour.back),
        h("button", { id: "tour-next", class: "strong", onclick: () => (isLast ? this.end() : this.go(this.step + 1)) }, isLast ? words.tour.finish : words.tour.next)));
    this.place(this.isNew);
    if (this.isNew) document.getElementById("tour-title").focus({ preventScroll: true });
    this.isNew = false;
  }

  // The ring around the target; the card below it, above it, or at the window's lower edge, where there is room.
  place(scrolls = false) {
    const target = document.querySelector(this.steps[this.step][1]);
    if (!target) return;
    const room = this.card.offsetHeight + 2 * GAP;
    if (scrolls) {
      const { top, height } = target.getBoundingClientRect();
      scrollTo({ top: scrollY + top - Math.max(90, Math.min(180, (innerHeight - height - room) / 2)), behavior: "instant" });
    }
    const box = target.getBoundingClientRect();
    const at = { left: box.left + scrollX - 6, top: box.top + scrollY - 6, width: box.width + 12, height: box.height + 12 };
    for (const [name, value] of Object.entries(at)) this.ring.style[name] = `${value}px`;
    const isBelow = box.bottom + room < innerHeight;
    this.card.classList.toggle("fixed", !isBelow && box.top < room);
    this.card.style.top = this.card.classList.contains("fixed") ? "" : `${scrollY + (isBelow ? box.bottom + GAP : box.top - this.card.offsetHeight - GAP)}px`;
    this.card.style.left = `${Math.max(14, Math.min(box.left + scrollX, innerWidth - this.card.offsetWidth - 14))}px`;
  }

  onKey(event) {
    event.stopPropagation();
    const act = { Escape: () => this.end(), ArrowRight: () => this.step < this.steps.length - 1 && this.go(this.step + 1), ArrowLeft: () => this.step > 0 && this.go(this.step - 1) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // The sentences from before are there again.
  end() {
    removeEventListener("resize", this.again);
    this.ring.remove();
    this.card.remove();
    this.ended(Object.fromEntries(["sentences", "b", "noun"].map((name) => [name, this.before[name]])));
  }
}
