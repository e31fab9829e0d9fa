// Vectors as strips of colored cells, counts as columns, a token's bytes as a grid, and formulas.

import { h, number, style, svg } from "../dom.js";

// A number as the figures have it: as many decimals as are worth reading.
export const figure = (value) => number(value, Math.abs(value) >= 9.995 ? 1 : Math.abs(value) >= 0.9995 ? 2 : 3);

export const largest = (...vectors) => vectors.flat(Infinity).reduce((most, value) => Math.max(most, Math.abs(value)), 1e-6);

// One cell for each number: green above zero, purple below, full at `scale`. Pointed at, a cell tells its number.
export function strip(values, scale, label, tall = 18) {
  const picture = svg("svg", { class: "strip", viewBox: `0 0 ${values.length} 1`, preserveAspectRatio: "none", height: tall, role: "img", onpointerover: ({ target }) => target !== picture && target.replaceChildren(svg("title", {}, figure(picture.values[target.getAttribute("x")]))), "aria-label": `${label}: ${values.slice(0, 4).map(figure).join(", ")} …` },
    values.map((value, i) => svg("rect", { x: i, y: 0, width: 1.02, height: 1 })));
  paint(picture, values, scale);
  return picture;
}

export function paint(picture, values, scale) {
  picture.values = values;
  picture.childNodes.forEach((cell, i) => shade(cell, values[i], scale));
}

function shade(cell, value, scale) {
  cell.setAttribute("class", value < 0 ? "minus" : "plus");
  return style(cell, { "--v": Math.min(1, Math.abs(value) / scale).toFixed(3) });
}

// A strip with its name, and its first numbers as text.
export const named = (name, values, scale) => h("div", { class: "named" }, h("span", { class: "name" }, indexed(name)), strip(values, scale, name),
  h("span", { class: "numbers" }, `${values.slice(0, 3).map(figure).join(", ")}, …`));

// Columns with their values above and names below.
export function columns(items, { most = largest(items.map((item) => item.value)), format = figure } = {}) {
  return h("ul", { class: "columns" }, items.map(({ name, value, strong }) => h("li", { class: strong ? "strong" : null },
    h("span", { class: "value" }, format(value)), style(h("span", { class: "column" }), { "--share": (Math.max(0, value) / most).toFixed(3) }), h("span", { class: "name" }, name))));
}

// What is drawn over and under the bytes of a token: each byte has a column, and its letter spans the letter's bytes.
export function byteGrid(letters, { below, above, counts, marked = [], column = 26, label, rows = 1, tall = 20 }) {
  const count = letters.reduce((sum, letter) => sum + letter.ids.length, 0), top = above ? 40 : 0;
  const parts = [];
  let at = 0;
  for (const { text, ids } of letters) {
    parts.push(svg("text", { class: text === null ? "end" : "letter", x: (at + ids.length / 2) * column, y: top + 17, "text-anchor": "middle" }, text ?? (at ? "⟩" : "⟨")));
    if (ids.length > 1) parts.push(svg("path", { class: "span", d: `M${at * column + 3} ${top + 26}v-4h${ids.length * column - 6}v4` }));
    at += ids.length;
  }
  const hasPadding = below && below.length > count;
  if (hasPadding) parts.push(svg("text", { class: "end", x: (count + 0.5) * column + 6, y: top + 17, "text-anchor": "middle" }, "…"));
  const cells = Array.from({ length: hasPadding ? count + 1 : count }, (_, i) => Array.from({ length: rows }, (_, row) => {
    const place = { x: i * column + 1 + (i === count ? 6 : 0), y: top + 30 + row * tall, width: column - 2, height: rows > 1 ? tall : tall - 2, rx: rows > 1 ? 0 : 3 };
    if (counts) return svg("text", { class: "count", x: (i + 0.5) * column, y: top + 43, "text-anchor": "middle" }, String(counts[i]));
    if (below) return shade(svg("rect", place), below[i][row], below.scale);
    return svg("rect", { ...place, class: marked.includes(i) ? "window" : "byte" });
  }));
  const bars = above && above.map((value, i) => svg("rect", { class: `bar ${i === above.best ? "best" : ""}`, x: i * column + 2, y: top - 36 * Math.max(0.02, value / above.most), width: column - 4, height: 36 * Math.max(0.02, value / above.most), rx: 2 }));
  const width = column * Math.max(count + (hasPadding ? 1 : 0), above?.length ?? 0) + 8;
  return h("div", { class: "grid", role: "img", "aria-label": label, "data-best": above && above.best * column },
    svg("svg", { class: "bytes", width, height: top + 32 + rows * tall, viewBox: `0 0 ${width} ${top + 32 + rows * tall}`, "aria-hidden": "true" }, bars, parts, cells));
}

// "h_{k,1}" with its index below.
export const formula = (text) => h("p", { class: "formula" }, indexed(text));

export const indexed = (text) => text.split(/_(\{[^}]*\}|\S)/).map((part, i) => (i % 2 ? h("sub", {}, part.replace(/[{}]/g, "")) : part));
