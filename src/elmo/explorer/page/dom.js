// Elements from plain values. Text only ever becomes text nodes, so that no sentence can be markup.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

// Replaces the children of an element; what had the focus has it again if an element of its id is there.
export function show(element, ...children) {
  const focused = document.activeElement?.id;
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (focused && focused !== document.activeElement?.id) document.getElementById(focused)?.focus({ preventScroll: true });
}

// The shape beside the colour: A is a circle, B a square.
export const badge = (letter) => h("span", { class: `badge ${letter}`, "aria-hidden": "true" }, letter);

export function number(value, digits = 2) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

// A word as it stands in a line of text.
export const brief = (word) => (word.length > 40 ? `${word.slice(0, 39)}…` : word);

export const style = (element, properties) => {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
  return element;
};

// A box that scrolls sideways, and shows on which sides there is more.
export function scroller(label, ...children) {
  const inner = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
  return marksMore(inner, h("div", { class: "scroller" }, inner));
}

export function marksMore(inner, marked = inner) {
  const mark = () => {
    marked.classList.toggle("more-before", inner.scrollLeft > 2);
    marked.classList.toggle("more-after", inner.scrollWidth - inner.clientWidth - inner.scrollLeft > 2);
  };
  inner.addEventListener("scroll", mark, { passive: true });
  new ResizeObserver(mark).observe(inner);
  return marked;
}
