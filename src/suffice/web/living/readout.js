/**
 * Values of pictures: the nearest point of a curve, dot or bar is told beside the pointer.
 * @module
 */

import { el, short, visible } from "../pages/dom.js";

/** @typedef {{ name: string, low: number, high: number, log: boolean }} Scale */
/** @typedef {{ name: string, at: [number, number][] }} Series */
/**
 * @typedef {object} Picture
 * @property {[number, number, number, number]} box left, top, right and bottom of the axes, as the view box has them
 * @property {Scale} x
 * @property {Scale} y
 * @property {Series[]} series
 * @property {{ name: string, value: number, at: [number, number] }[]} bars with the places of their ends
 */

/** How near, in units of the picture, a pointer has to be. */
const NEAR = 26;

/** @param {Scale} scale @param {number} value @returns {number} the share of the way from low to high */
function along({ low, high, log }, value) {
  return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/**
 * Return every point of a picture with its place in the view box, and its words.
 * @param {Picture} picture
 * @returns {{ x: number, y: number, words: string[] }[]}
 */
export function pointsOf(picture) {
  const [left, top, right, bottom] = picture.box;
  const place = (/** @type {[number, number]} */ [x, y]) => ({
    x: left + along(picture.x, x) * (right - left), y: bottom - along(picture.y, y) * (bottom - top),
  });
  const told = (/** @type {Scale} */ scale, /** @type {number} */ value) => `${scale.name === "" ? "" : `${scale.name}: `}${short(value)}`;
  const found = [
    ...picture.series.flatMap(({ name, at }) => at.map((one) => ({
      ...place(one), words: [name, told(picture.x, one[0]), told(picture.y, one[1])].filter((word) => word !== ""),
    }))),
    ...picture.bars.map(({ name, value, at }) => ({ ...place(at), words: [name, short(value)].filter((word) => word !== "") })),
  ];
  return found.filter(({ x, y }) => x >= left - 1 && x <= right + 1 && y >= top - 1 && y <= bottom + 1);
}

/** @param {Record<string, Picture>} pictures by the keys of their elements */
export function startReadouts(pictures) {
  const tip = el("div", { class: "tip living", role: "status", hidden: true });
  document.body.append(tip);
  for (const svg of /** @type {NodeListOf<SVGSVGElement>} */ (document.querySelectorAll("svg[data-picture]"))) {
    const picture = pictures[svg.dataset.picture ?? ""];
    if (picture === undefined) continue;
    const points = pointsOf(picture);
    if (points.length > 0) startReadout(svg, points, tip);
  }
}

/** @param {SVGSVGElement} svg @param {{ x: number, y: number, words: string[] }[]} points @param {HTMLElement} tip */
function startReadout(svg, points, tip) {
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  mark.setAttribute("class", "mark");
  mark.setAttribute("r", "5");
  let current = -1;
  const hide = () => {
    tip.hidden = true;
    mark.remove();
  };
  const show = (/** @type {number} */ which) => {
    current = which;
    const { x, y, words } = points[which];
    mark.setAttribute("cx", String(x));
    mark.setAttribute("cy", String(y));
    svg.append(mark);
    tip.replaceChildren(...words.map((word) => el("div", {}, visible(word))));
    tip.hidden = false;
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    const [px, py] = [box.left + x * scale, box.top + y * scale];
    const own = tip.getBoundingClientRect();
    const wide = document.documentElement.clientWidth;
    tip.style.left = `${Math.max(4, Math.min(wide - own.width - 4, px + 14)) + scrollX}px`;
    tip.style.top = `${(py - own.height - 12 < 0 ? py + 14 : py - own.height - 12) + scrollY}px`;
  };
  const seek = (/** @type {PointerEvent} */ event) => {
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    const [x, y] = [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
    let [best, least] = [-1, NEAR * NEAR];
    points.forEach((point, i) => {
      const away = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (away < least) [best, least] = [i, away];
    });
    if (best < 0) hide();
    else show(best);
  };
  svg.addEventListener("pointermove", seek);
  svg.addEventListener("pointerdown", seek);
  svg.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") hide();  // what a finger has asked for stays
  });
  svg.addEventListener("blur", hide);
  svg.tabIndex = 0;
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (step === undefined) return;
    event.preventDefault();
    show((current + step + points.length) % points.length);
  });
}
