// Zoom of the map by its viewBox: wheel, two fingers, buttons and keys. Marks keep their size.

import { h } from "../dom.js";

export const WIDTH = 640;
export const HEIGHT = 480;
const CLOSEST = 16;
const STEP = 1.5;
const windows = new WeakMap();  // of a picture: its left, top and magnification

const windowOf = (picture) => windows.get(picture) ?? { x: 0, y: 0, zoom: 1 };

function setWindow(picture, x, y, zoom) {
  const clamped = Math.max(1, Math.min(CLOSEST, zoom));
  const width = WIDTH / clamped, height = HEIGHT / clamped;
  const left = Math.max(0, Math.min(WIDTH - width, x)), top = Math.max(0, Math.min(HEIGHT - height, y));
  windows.set(picture, { x: left, y: top, zoom: clamped });
  picture.setAttribute("viewBox", `${left.toFixed(2)} ${top.toFixed(2)} ${width.toFixed(2)} ${height.toFixed(2)}`);
  picture.style.setProperty("--zoom", clamped.toFixed(3));
  picture.classList.toggle("zoomed", clamped > 1);
}

// By a factor; the point (x, y) stays where it is, by default the middle of what is shown.
function zoomBy(picture, factor, point = null) {
  const { x, y, zoom } = windowOf(picture);
  const [atX, atY] = point ?? [x + WIDTH / zoom / 2, y + HEIGHT / zoom / 2];
  const real = Math.max(1, Math.min(CLOSEST, zoom * factor)) / zoom;
  setWindow(picture, atX - (atX - x) / real, atY - (atY - y) / real, zoom * real);
}

// Brings a place of the picture to the middle if it is outside.
export function include(picture, [x, y]) {
  const { x: left, y: top, zoom } = windowOf(picture);
  const [width, height] = [WIDTH / zoom, HEIGHT / zoom];
  if (x < left || x > left + width || y < top || y > top + height) setWindow(picture, x - width / 2, y - height / 2, zoom);
}

export function zoomButtons(picture, words) {
  const button = (id, label, text, act) => h("button", { id, class: "quiet icon", title: label, "aria-label": label, onclick: act }, text);
  return h("div", { class: "zoom", role: "group" },
    button("zoom-in", words.zoomIn, "+", () => zoomBy(picture, STEP)),
    button("zoom-out", words.zoomOut, "−", () => zoomBy(picture, 1 / STEP)),
    button("zoom-reset", words.zoomReset, "⤢", () => setWindow(picture, 0, 0, 1)));
}

// The place of a pointer in the picture's units.
function placeIn(picture, { clientX, clientY }) {
  const box = picture.getBoundingClientRect(), { x, y, zoom } = windowOf(picture);
  return [x + ((clientX - box.left) / box.width) * WIDTH / zoom, y + ((clientY - box.top) / box.height) * HEIGHT / zoom];
}

export function zoomable(picture) {
  const pointers = new Map();
  // Without Ctrl only when the map was clicked: a wheel that passes over it scrolls the page.
  picture.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.metaKey || picture.contains(document.activeElement))) return;
    event.preventDefault();
    zoomBy(picture, Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : event.ctrlKey ? 0.01 : 0.002)), placeIn(picture, event));
  }, { passive: false });
  picture.addEventListener("keydown", (event) => {
    const act = { "+": () => zoomBy(picture, STEP), "=": () => zoomBy(picture, STEP), "-": () => zoomBy(picture, 1 / STEP), Home: () => setWindow(picture, 0, 0, 1) }[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  picture.addEventListener("pointerdown", (event) => pointers.set(event.pointerId, event));
  picture.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const others = [...pointers.values()].filter((one) => one.pointerId !== event.pointerId);
    const { x, y, zoom } = windowOf(picture);
    if (others.length) {
      const middle = { clientX: (event.clientX + others[0].clientX) / 2, clientY: (event.clientY + others[0].clientY) / 2 };
      zoomBy(picture, apart(event, others[0]) / Math.max(1, apart(before, others[0])), placeIn(picture, middle));
    } else if (zoom > 1) {
      picture.setPointerCapture(event.pointerId);
      const [toX, toY] = placeIn(picture, event), [fromX, fromY] = placeIn(picture, before);
      setWindow(picture, x + fromX - toX, y + fromY - toY, zoom);
    }
    pointers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) picture.addEventListener(end, (event) => pointers.delete(event.pointerId));
}

const apart = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
