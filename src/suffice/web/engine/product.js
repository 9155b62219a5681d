/**
 * Naive Bayes: independent columns, each by the law it has. Scores are log p(x | c) up to what
 * classes share, and how many events of a row are impossible in a class, which is compared first.
 * @module
 */

import { logAddExp, normalized } from "./bayes.js";

/** @typedef {import("./matrix.js").Vector} Vector */
/** @typedef {number | string | boolean | null} Cell */
/** @typedef {import("./random.js").Random} Random */

/**
 * What one column adds to the scores of all classes.
 * @typedef {{ type: "common" }} CommonCell
 * @typedef {{ type: "linear", slopes: Vector, offsets: Vector | null, orderSlopes: Vector | null,
 *   orderOffsets: Vector | null, threshold: number | null, allowed: string, blank: boolean }} LinearCell
 * @typedef {{ type: "normal", origin: number, originLow: number, scale: number, active: boolean,
 *   means: Vector, deviations: Vector, logarithm: boolean }} NormalCell
 * @typedef {{ type: "student", origin: number, originLow: number, scale: number,
 *   locations: Vector, spreads: Vector, degrees: Vector, levels: Vector }} StudentCell
 * @typedef {{ type: "levels", levels: Cell[], table: Vector[], orders: Vector[] | null,
 *   text: boolean }} LevelsCell
 * @typedef {{ type: "bins", edges: Vector, table: Vector[], orders: Vector[] | null }} BinsCell
 * @typedef {(CommonCell | LinearCell | NormalCell | StudentCell | LevelsCell | BinsCell) & {
 *   column: number, chosen: boolean, family: string }} ColumnLaw
 */

/**
 * @typedef {object} Product
 * @property {Vector} logPriors
 * @property {ColumnLaw[]} laws
 * @property {number} temperature
 * @property {Vector | null} temperatures
 * @property {Vector | null} shares
 */

/** Standard deviations at which cells are held: beyond, squares would leave the range. */
const FAR = 1e140;

/**
 * A cell that has no answer, such as a negative count.
 */
export class BadCell extends Error {
  /** @param {number} column @param {string} problem */
  constructor(column, problem) {
    super(problem);
    this.column = column;
  }
}

/** @param {number} z @returns {number} */
function held(z) {
  return z > FAR ? FAR : z < -FAR ? -FAR : z;
}

/** @type {Record<string, (x: number) => boolean>} */
const ALLOWED = {
  any: () => true,
  positive: (x) => x >= 0,
  counts: (x) => x >= 0,
  whole: (x) => x >= 0 && Number.isInteger(x),
  truths: (x) => x === 0 || x === 1,
};
/** @type {Record<string, string>} */
const EXPECTED = {
  positive: "a number from 0 on",
  counts: "a number from 0 on",
  whole: "a whole number from 0 on",
  truths: "0 or 1",
};

/**
 * Return what a cell adds to the scores of all classes, and to the impossible events; null: the
 * cell says nothing.
 * @param {ColumnLaw} law
 * @param {Cell} cell numbers, texts; null where blank
 * @param {number} size the number of classes
 * @returns {{ logs: Vector, orders: Vector | null } | null}
 */
export function cellScores(law, cell, size) {
  if (law.type === "common") return null;
  if (law.type === "levels") return levelScores(law, cell);
  let x = typeof cell === "boolean" ? Number(cell) : /** @type {number | null} */ (cell);
  if (x === null || Number.isNaN(x)) {
    if (law.type === "linear" && !law.blank) throw new BadCell(law.column, "cannot be blank here");
    return null;
  }
  if (law.type === "linear") {
    if (!ALLOWED[law.allowed](x)) {
      if (law.chosen && law.allowed === "whole") return null;
      throw new BadCell(law.column, `${x} is not ${EXPECTED[law.allowed]}`);
    }
    const at = law.threshold === null ? x : Number(x > law.threshold);
    /** @type {(slopes: Vector, offsets: Vector | null) => Vector} */
    const line = (slopes, offsets) =>
      slopes.map((slope, c) => (slope === 0 ? 0 : slope * at) + (offsets === null ? 0 : offsets[c]));
    const orders = law.orderSlopes === null ? null : line(law.orderSlopes, law.orderOffsets);
    return { logs: line(law.slopes, law.offsets), orders };
  }
  if (law.type === "normal") {
    if (!law.active) return null;
    if (law.logarithm) {
      if (!(x > 0)) return null;
      x = Math.log(x);
    }
    const z = held((x - law.origin - law.originLow) / law.scale);
    const shared = law.deviations.length === 1;
    const logs = law.means.map((mean, c) => {
      const deviation = law.deviations[shared ? 0 : c];
      if (shared) return (mean / deviation ** 2) * (z - mean / 2);
      return -0.5 * ((z - mean) / deviation) ** 2 - Math.log(deviation);
    });
    return { logs, orders: null };
  }
  if (law.type === "student") {
    const z = held((x - law.origin - law.originLow) / law.scale);
    const logs = law.locations.map((at, c) => {
      const f = law.degrees[c];
      const u = (z - at) / law.spreads[c];
      return law.levels[c] - ((f + 1) / 2) * Math.log1p((u * u) / f);
    });
    return { logs, orders: null };
  }
  let bin = 0;
  while (bin < law.edges.length - 2 && x >= law.edges[bin + 1]) bin += 1;
  return { logs: law.table[bin], orders: law.orders === null ? null : law.orders[bin] };
}

/** @type {WeakMap<object, Map<Cell, number>>} */
const INDEXES = new WeakMap();

/**
 * @param {LevelsCell & { column: number, chosen: boolean }} law
 * @param {Cell} cell
 * @returns {{ logs: Vector, orders: Vector | null } | null}
 */
function levelScores(law, cell) {
  if (cell === null || (typeof cell === "number" && Number.isNaN(cell))) return null;
  let key = cell;
  if (law.text) key = String(cell);
  else {
    key = Number(cell);
    if (!law.chosen && !Number.isInteger(key)) {
      throw new BadCell(law.column, `${cell} is not a whole number`);
    }
  }
  let index = INDEXES.get(law);
  if (index === undefined) {
    index = new Map(law.levels.map((level, i) => [law.text ? String(level) : Number(level), i]));
    INDEXES.set(law, index);
  }
  const place = index.get(key) ?? law.table.length - 2;
  return { logs: law.table[place], orders: law.orders === null ? null : law.orders[place] };
}

/**
 * Return log p(y | x) of a row.
 * @param {Product} model
 * @param {Cell[]} row
 * @returns {Vector}
 */
export function productPosterior(model, row) {
  const size = model.logPriors.length;
  const logs = new Array(size).fill(0);
  const orders = new Array(size).fill(0);
  for (const law of model.laws) {
    const found = cellScores(law, row[law.column], size);
    if (found === null) continue;
    for (let c = 0; c < size; c++) {
      logs[c] += found.logs[c];
      if (found.orders !== null) orders[c] += found.orders[c];
    }
  }
  let least = Infinity;
  for (let c = 0; c < size; c++) {
    if (model.logPriors[c] > -Infinity) least = Math.min(least, orders[c]);
  }
  /** @param {number} beta @returns {Vector} */
  const joint = (beta) =>
    logs.map((log, c) => (orders[c] <= least + 0.5 ? model.logPriors[c] + beta * log : -Infinity));
  if (model.temperatures === null || model.shares === null) {
    return normalized(joint(model.temperature));
  }
  /** @type {Vector | null} */
  let out = null;
  model.temperatures.forEach((beta, b) => {
    const some = normalized(joint(beta)).map((log) => log + Math.log(/** @type {Vector} */ (model.shares)[b]));
    out = out === null ? some : out.map((log, c) => logAddExp(log, some[c]));
  });
  return normalized(/** @type {Vector} */ (/** @type {unknown} */ (out)));
}

/**
 * Return what every column adds to the log odds of two classes; ±∞ where an event is impossible.
 * @param {Product} model
 * @param {Cell[]} row
 * @param {number} of
 * @param {number} against
 * @param {number} width the number of columns
 * @returns {{ baseline: number, parts: Vector }}
 */
export function productExplanation(model, row, of, against, width) {
  const parts = new Array(width).fill(0);
  for (const law of model.laws) {
    const found = cellScores(law, row[law.column], model.logPriors.length);
    if (found === null) continue;
    const order = found.orders === null ? 0 : found.orders[of] - found.orders[against];
    const [a, b] = [found.logs[of], found.logs[against]];
    const gap = a === b ? 0 : model.temperature * (a - b);
    parts[law.column] = order > 0 ? -Infinity : order < 0 ? Infinity : gap;
  }
  const [p, q] = [model.logPriors[of], model.logPriors[against]];
  let baseline = p === q ? 0 : p - q;
  if (model.shares !== null) {
    const logs = productPosterior(model, row);
    const rest = logs[of] - logs[against] - parts.reduce((sum, one) => sum + one, 0);
    if (Number.isFinite(rest)) baseline = rest;
  }
  return { baseline, parts };
}
