/**
 * "None of these": how often a row of a class lies as far out as this one, as p-values.
 * @module
 */

import { cellScores } from "./product.js";
import { Random } from "./random.js";
import { chiSquareTail, logGamma, predictiveTail } from "./special.js";

/** @typedef {import("./matrix.js").Vector} Vector */
/** @typedef {import("./tables/cells.js").Cell} Cell */
/** @typedef {import("./product.js").ColumnLaw} ColumnLaw */
/** @typedef {import("./product.js").Product} Product */

/**
 * What p-values of normal classes are made of: degrees of freedom of the scatters, what these were
 * divided by, and the weights of the classes. Null: the law is taken as known.
 * @typedef {{ freedom: Vector, divisors: Vector, weights: Vector }} Sampling
 */

/**
 * Return the p-value of a row under each normal class: by F where the scatter was estimated from
 * so many rows, by χ² where it is taken as known.
 * @param {{ squares: (x: ArrayLike<number>) => { squares: Vector, rank: number } }} law
 * @param {ArrayLike<number>} x
 * @param {Sampling | null} sampling
 * @returns {Vector}
 */
export function normalTypicality(law, x, sampling) {
  const { squares, rank } = law.squares(x);
  return squares.map((square, c) => {
    if (sampling !== null) {
      const { freedom, divisors, weights } = sampling;
      const tail = predictiveTail(square / divisors[c], rank, freedom[c], 1 / weights[c]);
      if (tail !== null) return tail;
    }
    return chiSquareTail(square, rank);
  });
}

/** Draws of each class that a row is compared with. */
export const DRAWS = 2000;

/** p-values of rows of independent columns, by rows that are drawn from each class. */
export class DrawnTypicality {
  /**
   * @param {Product} model
   * @param {number} [seed]
   */
  constructor(model, seed = 1) {
    this.laws = model.laws.filter((law) => law.type !== "common");
    this.size = model.logPriors.length;
    this.known = this.laws.every((law) => sampler(law, 0) !== null);
    const draws = Math.max(200, Math.min(DRAWS, Math.floor(4e6 / (this.laws.length * this.size + 1))));
    this.draws = draws;
    const random = new Random(seed);
    /** Log densities of the draws, by class and column. @type {Float64Array[][]} */
    this.drawn = [];
    for (let c = 0; c < this.size && this.known; c++) {
      this.drawn.push(this.laws.map((law) => {
        const draw = /** @type {(random: Random) => Cell} */ (sampler(law, c));
        return Float64Array.from({ length: draws }, () => logDensity(law, draw(random), c, this.size));
      }));
    }
  }

  /**
   * @param {Cell[]} row
   * @returns {Vector | null} null where there is no law to draw from
   */
  of(row) {
    if (!this.known) return null;
    return Array.from({ length: this.size }, (_, c) => {
      const sums = new Float64Array(this.draws);
      let own = 0;
      this.laws.forEach((law, j) => {
        if (cellScores(law, row[law.column], this.size) === null) return;
        own += logDensity(law, row[law.column], c, this.size);
        const drawn = this.drawn[c][j];
        for (let i = 0; i < sums.length; i++) sums[i] += drawn[i];
      });
      let many = 1;
      for (let i = 0; i < sums.length; i++) many += sums[i] <= own + 1e-9 * Math.abs(own) ? 1 : 0;
      return many / (sums.length + 1);
    });
  }
}

/**
 * Return log p(x | c) of one cell, with what classes share; -∞ where it is impossible.
 * @param {ColumnLaw} law
 * @param {Cell} cell
 * @param {number} c
 * @param {number} size
 * @returns {number}
 */
function logDensity(law, cell, c, size) {
  const found = cellScores(law, cell, size);
  if (found === null) return 0;
  if (found.orders !== null && found.orders[c] > 0) return -Infinity;
  let log = found.logs[c];
  const x = Number(cell);
  if (law.type === "normal" && law.deviations.length === 1) {
    // Shared variances leave out the square that classes have in common.
    const z = ((law.logarithm ? Math.log(x) : x) - law.origin - law.originLow) / law.scale;
    log -= 0.5 * (z / law.deviations[0]) ** 2;
  }
  if (law.type === "normal" && law.logarithm) log -= Math.log(x);
  if (law.type === "linear" && law.family === "Poisson") log -= logGamma(x + 1);
  if (law.type === "bins") {
    let bin = 0;
    while (bin < law.edges.length - 2 && x >= law.edges[bin + 1]) bin += 1;
    log -= Math.log(law.edges[bin + 1] - law.edges[bin]);
  }
  return log;
}

/**
 * Return what draws a cell of class c; null where the law cannot be drawn from.
 * @param {ColumnLaw} law
 * @param {number} c
 * @returns {((random: Random) => Cell) | null}
 */
export function sampler(law, c) {
  if (law.type === "normal") {
    const deviation = law.deviations[law.deviations.length === 1 ? 0 : c];
    return (random) => {
      const z = law.means[c] + (law.active ? deviation * random.normal() : 0);
      const x = law.origin + (law.originLow + z * law.scale);
      return law.logarithm ? Math.exp(x) : x;
    };
  }
  if (law.type === "student") {
    const f = law.degrees[c];
    return (random) => {
      const wide = Math.sqrt(f / (2 * random.gamma(f / 2)));
      const z = law.locations[c] + law.spreads[c] * random.normal() * wide;
      return law.origin + (law.originLow + z * law.scale);
    };
  }
  if (law.type === "levels" || law.type === "bins") {
    const many = law.type === "levels" ? law.levels.length : law.edges.length - 1;
    const shares = Array.from({ length: many }, (_, i) => {
      const impossible = law.orders !== null && law.orders[i][c] > 0;
      return impossible ? 0 : Math.exp(law.table[i][c]);
    });
    if (!shares.some((share) => share > 0)) return null;
    if (law.type === "levels") return (random) => law.levels[random.choice(shares)];
    return (random) => {
      const i = random.choice(shares);
      return law.edges[i] + random.uniform() * (law.edges[i + 1] - law.edges[i]);
    };
  }
  if (law.type === "linear" && law.family === "Poisson") {
    const rate = law.orderSlopes !== null && law.orderSlopes[c] > 0 ? 0 : Math.exp(law.slopes[c]);
    return (random) => random.poisson(rate);
  }
  if (law.type === "linear" && law.family === "Bernoulli") {
    const orders = law.orderSlopes?.[c] ?? 0;
    const p = orders > 0 ? 0 : orders < 0 ? 1 : 1 / (1 + Math.exp(-law.slopes[c]));
    const [low, high] = law.threshold === null ? [0, 1] : [law.threshold, law.threshold + 1];
    return (random) => (random.uniform() < p ? high : low);
  }
  return null;
}
