/**
 * Learning curves: how wrong GDA and logistic regression are as rows come, in worlds whose best
 * possible answer is known.
 * @module
 */

import { fitNormal } from "../engine/gda.js";
import { fitLogistic } from "../engine/linear.js";
import { momentsByClass } from "../engine/moments.js";
import { Random } from "../engine/random.js";
import { linearFunctions, quadratics, scoreAt } from "./fitting.js";
import { bayesError, drawn } from "./worlds.js";

/** @typedef {import("./worlds.js").World} World */
/** @typedef {{ n: number, gda: number[], logistic: number[] }} Size */

export const SIZES = Array.from({ length: 11 }, (_, i) => 4 * 2 ** i);
const TESTED = 3000;

/**
 * Return the share of test rows that functions of the place get wrong.
 * @param {number[][]} scores
 * @param {import("./worlds.js").Point[]} points
 * @returns {number}
 */
function wrong(scores, points) {
  let many = 0;
  for (const { x, y, c } of points) {
    const gap = scoreAt(scores[1], x, y) - scoreAt(scores[0], x, y);
    many += gap > 0 === (c === 1) ? 0 : 1;
  }
  return many / points.length;
}

/**
 * Yield the curves as they grow: one more repetition of every size at a time.
 * @param {World} world
 * @param {number} repetitions
 * @param {number} seed
 * @returns {Generator<Size[], void, void>}
 */
export function* learningCurves(world, repetitions, seed) {
  const random = new Random(seed);
  const tested = drawn(world, TESTED, 2, random);
  const sizes = SIZES.map((n) => ({ n, gda: /** @type {number[]} */ ([]), logistic: /** @type {number[]} */ ([]) }));
  for (let r = 0; r < repetitions; r++) {
    for (const size of sizes) {
      const points = drawn(world, size.n, 2, random);
      const rows = points.map(({ x, y }) => [x, y]);
      const codes = points.map(({ c }) => c);
      size.gda.push(wrong(quadratics(fitNormal(momentsByClass(rows, codes, 2), "shared")), tested));
      size.logistic.push(wrong(linearFunctions(fitLogistic(rows, codes, 2, { steps: 25 }).theta), tested));
      yield sizes;
    }
  }
}

/**
 * Return the least error that any answer has in a world of two classes of equal shares.
 * @param {World} world
 * @returns {number}
 */
export function leastError(world) {
  return bayesError((x, y, c) => world.logDensity(x, y, c) - Math.log(2), 2, { whole: world.whole, wide: 25, steps: 400 });
}

/** @param {number[]} values @returns {{ mean: number, low: number, high: number }} */
export function band(values) {
  const n = values.length;
  const mean = values.reduce((sum, v) => sum + v, 0) / n;
  const variance = values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / Math.max(1, n - 1);
  const reach = n < 2 ? 0 : 2 * Math.sqrt(variance / n);
  return { mean, low: mean - reach, high: mean + reach };
}

const SPACE = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text] @returns {SVGElement} */
function svg(tag, attributes, text) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/**
 * Draw curves with bands of two standard errors, and the least error.
 * @param {SVGElement} place with a view of 560 × 300
 * @param {Size[]} sizes
 * @param {number} least
 * @param {[string, string]} colours
 */
export function drawCurves(place, sizes, least, colours) {
  const known = sizes.filter((size) => size.gda.length > 0);
  const top = Math.min(0.55, Math.max(0.1, ...known.flatMap((size) => [band(size.gda).high, band(size.logistic).high])) * 1.05);
  const x = (/** @type {number} */ n) => 52 + (Math.log2(n / 4) / 10) * 490;
  const y = (/** @type {number} */ e) => 258 - (e / top) * 240;
  const parts = [];
  for (let e = 0; e <= top; e += top > 0.3 ? 0.1 : 0.05) {
    parts.push(svg("line", { x1: 52, x2: 542, y1: y(e), y2: y(e), class: "grid" }));
    parts.push(svg("text", { x: 46, y: y(e) + 4, class: "tick end" }, `${Math.round(100 * e)} %`));
  }
  for (const n of SIZES.filter((_, i) => i % 2 === 0)) parts.push(svg("text", { x: x(n), y: 276, class: "tick middle" }, n.toLocaleString("en")));
  parts.push(svg("text", { x: 297, y: 295, class: "tick middle" }, "rows to learn from"));
  parts.push(svg("line", { x1: 52, x2: 542, y1: y(least), y2: y(least), class: "least" }));
  parts.push(svg("text", { x: 542, y: y(least) + 14, class: "tick end" }, `Bayes error ${(100 * least).toFixed(1)} %`));
  for (const [which, colour, dash] of /** @type {["gda" | "logistic", string, string][]} */ ([["gda", colours[0], ""], ["logistic", colours[1], "7 4"]])) {
    const bands = known.map((size) => ({ n: size.n, ...band(size[which]) }));
    if (bands.length === 0) continue;
    const up = bands.map((b) => `${x(b.n)},${y(Math.min(b.high, top))}`);
    const down = bands.map((b) => `${x(b.n)},${y(Math.max(b.low, 0))}`).reverse();
    parts.push(svg("polygon", { points: [...up, ...down].join(" "), fill: colour, "fill-opacity": 0.22 }));
    parts.push(svg("polyline", { points: bands.map((b) => `${x(b.n)},${y(Math.min(b.mean, top))}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dash }));
  }
  place.replaceChildren(...parts);
}
