/**
 * Gaussian discriminant analysis: from the moments of classes to normal classes.
 * @module
 */

import { cholesky, zeros } from "./matrix.js";
import { DiagonalNormals, FullNormals } from "./normals.js";

/** @typedef {import("./matrix.js").Vector} Vector */
/** @typedef {import("./matrix.js").Matrix} Matrix */
/** @typedef {import("./moments.js").Moments} Moments */

/**
 * How columns vary together.
 * @typedef {"shared" | "per-class" | "diagonal" | "shared-diagonal" | "spherical"
 *   | "shared-spherical"} Form
 */

/**
 * @typedef {object} NormalModel
 * @property {Vector} logPriors
 * @property {FullNormals | DiagonalNormals} law
 * @property {Matrix[]} covariances of every class, in the user's units
 * @property {number[]} floored classes whose covariance had to be widened
 */

/** Variance that a direction keeps, relative to the column's own over all classes. */
const FLOOR = 1e-6;

/**
 * Return normal classes out of moments; classes without rows have no share.
 * @param {Moments[]} moments
 * @param {Form} form
 * @param {{ pool?: number, unbiased?: boolean, logPriors?: Vector }} [options]
 * @returns {NormalModel}
 */
export function fitNormal(moments, form, options = {}) {
  const size = moments.length;
  const width = moments[0].mean.length;
  const weight = moments.reduce((sum, m) => sum + m.weight, 0);
  const classes = moments.filter((m) => m.weight > 0).length;
  const pooled = zeros(width, width);
  for (const m of moments) {
    for (let j = 0; j < width; j++) for (let k = 0; k < width; k++) pooled[j][k] += m.scatter[j][k];
  }
  const less = options.unbiased ? 1 : 0;
  const all = scaled(pooled, 1 / Math.max(weight - less * classes, Number.MIN_VALUE));
  const total = totalVariances(moments, weight, width);
  /** @param {number} c @returns {Matrix} */
  const own = (c) => scaled(moments[c].scatter, 1 / Math.max(moments[c].weight - less, 1e-300));
  const pool = options.pool ?? 0;
  const shared = form.startsWith("shared");
  const shape = form === "shared" || form === "per-class" ? "full"
    : form === "diagonal" || form === "shared-diagonal" ? "diagonal" : "spherical";
  /** @type {number[]} */
  const floored = [];
  /** @type {Matrix[]} */
  const covariances = [];
  for (let c = 0; c < size; c++) {
    let S = shared || moments[c].weight === 0 ? all : own(c);
    if (!shared && pool > 0) S = S.map((row, j) => row.map((v, k) => (1 - pool) * v + pool * all[j][k]));
    const [kept, widened] = withFloor(shaped(S, shape), total, shape);
    covariances.push(kept);
    if (widened) floored.push(c);
  }
  const logPriors = options.logPriors ?? moments.map((m) => Math.log(m.weight / weight));
  const law = lawOf(moments.map((m) => m.mean), shared ? [covariances[0]] : covariances, shape === "full");
  return { logPriors, law, covariances, floored };
}

/**
 * Return the law of given means and covariances.
 * @param {Matrix} means
 * @param {Matrix[]} covariances once if shared
 * @param {boolean} full
 * @returns {FullNormals | DiagonalNormals}
 */
export function lawOf(means, covariances, full) {
  const width = means[0].length;
  const frame = {
    origin: new Array(width).fill(0),
    originLow: new Array(width).fill(0),
    scale: new Array(width).fill(1),
    active: new Array(width).fill(true),
    means,
  };
  if (!full) return new DiagonalNormals(frame, covariances.map((S) => S.map((row, j) => Math.sqrt(row[j]))));
  const factors = covariances.map((S) => /** @type {Matrix} */ (cholesky(S)));
  return new FullNormals(frame, factors, width);
}

/** @param {Matrix} S @param {number} factor @returns {Matrix} */
function scaled(S, factor) {
  return S.map((row) => row.map((v) => v * factor));
}

/** @param {Matrix} S @param {string} shape @returns {Matrix} */
function shaped(S, shape) {
  if (shape === "full") return S;
  const mean = S.reduce((sum, row, j) => sum + row[j], 0) / S.length;
  return S.map((row, j) =>
    row.map((_, k) => (j !== k ? 0 : shape === "spherical" ? mean : S[j][j])),
  );
}

/** @param {Moments[]} moments @param {number} weight @param {number} width @returns {Vector} */
function totalVariances(moments, weight, width) {
  const mean = new Array(width).fill(0);
  for (const m of moments) for (let j = 0; j < width; j++) mean[j] += (m.weight / weight) * m.mean[j];
  return mean.map((centre, j) => {
    let sum = 0;
    for (const m of moments) sum += m.scatter[j][j] + m.weight * (m.mean[j] - centre) ** 2;
    return sum / weight || 1;
  });
}

/** @param {Matrix} S @param {Vector} total @param {string} shape @returns {[Matrix, boolean]} */
function withFloor(S, total, shape) {
  const least = total.map((v) => FLOOR * v);
  const narrow = S.some((row, j) => row[j] < least[j]);
  const singular = shape === "full" && (narrow || !wellConditioned(S));
  if (!narrow && !singular) return [S, false];
  return [S.map((row, j) => row.map((v, k) => (j === k ? v + least[j] : v))), true];
}

/** @param {Matrix} S @returns {boolean} */
function wellConditioned(S) {
  const units = S.map((row, j) => Math.sqrt(row[j]));
  const L = cholesky(S.map((row, j) => row.map((v, k) => v / (units[j] * units[k]))));
  return L !== null && L.every((row, j) => row[j] ** 2 > FLOOR);
}

/**
 * Return θ and θ₀ that a shared covariance implies: the log odds of every class against the first
 * are θ·x + θ₀.
 * @param {NormalModel} model
 * @returns {Matrix} weights of the classes after the first, the intercept last
 */
export function impliedTheta(model) {
  const width = model.law.width;
  const zero = new Array(width).fill(0);
  const at = model.law.scores(zero, model.logPriors);
  const steps = zero.map((_, j) => {
    const unit = zero.slice();
    unit[j] = 1;
    return model.law.scores(unit, model.logPriors);
  });
  return at.slice(1).map((score, c) => [
    ...steps.map((step) => step[c + 1] - score - (step[0] - at[0])),
    score - at[0],
  ]);
}
