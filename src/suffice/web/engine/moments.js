/**
 * What rows are summed up to: weight, mean and scatter of every class. Rows are added, taken back
 * and merged; a model needs nothing else.
 * @module
 */

import { zeros } from "./matrix.js";

/** @typedef {import("./matrix.js").Vector} Vector */
/** @typedef {import("./matrix.js").Matrix} Matrix */

/** The sums of one class. */
export class Moments {
  /** @param {number} width */
  constructor(width) {
    this.weight = 0;
    /** @type {Vector} */
    this.mean = new Array(width).fill(0);
    /** Σ(x - m)(x - m)ᵀ. @type {Matrix} */
    this.scatter = zeros(width, width);
  }

  /**
   * Return the sums of some rows.
   * @param {Matrix} rows
   * @param {number} width
   * @returns {Moments}
   */
  static of(rows, width) {
    const found = new Moments(width);
    found.weight = rows.length;
    if (rows.length === 0) return found;
    for (const row of rows) for (let j = 0; j < width; j++) found.mean[j] += row[j];
    for (let j = 0; j < width; j++) found.mean[j] /= rows.length;
    for (const row of rows) {
      for (let j = 0; j < width; j++) {
        const gap = row[j] - found.mean[j];
        for (let k = 0; k <= j; k++) found.scatter[j][k] += gap * (row[k] - found.mean[k]);
      }
    }
    for (let j = 0; j < width; j++) for (let k = 0; k < j; k++) found.scatter[k][j] = found.scatter[j][k];
    return found;
  }

  /**
   * Return the sums of the rows of both: S = S_a + S_b + δδᵀW_aW_b/W.
   * @param {Moments} other
   * @returns {Moments}
   */
  plus(other) {
    return this.combined(other, 1);
  }

  /**
   * Return what is left when rows that were added are taken back.
   * @param {Moments} other
   * @returns {Moments}
   */
  minus(other) {
    return this.combined(other, -1);
  }

  /** @param {Moments} other @param {1 | -1} sign @returns {Moments} */
  combined(other, sign) {
    const width = this.mean.length;
    const found = new Moments(width);
    found.weight = this.weight + sign * other.weight;
    if (!(found.weight > 0)) return new Moments(width);
    const delta = other.mean.map((m, j) => m - this.mean[j]);
    const share = (sign * other.weight) / found.weight;
    found.mean = this.mean.map((m, j) => m + share * delta[j]);
    const factor = share * this.weight;
    found.scatter = this.scatter.map((row, j) =>
      row.map((s, k) => s + sign * other.scatter[j][k] + factor * delta[j] * delta[k]),
    );
    return found;
  }
}

/**
 * Return the moments of all classes.
 * @param {Matrix} rows
 * @param {number[]} codes
 * @param {number} size
 * @returns {Moments[]}
 */
export function momentsByClass(rows, codes, size) {
  const width = rows.length === 0 ? 0 : rows[0].length;
  /** @type {Matrix[]} */
  const groups = Array.from({ length: size }, () => []);
  for (let i = 0; i < rows.length; i++) groups[codes[i]]?.push(rows[i]);
  return groups.map((group) => Moments.of(group, width));
}
