/**
 * Normal classes: full covariances or independent columns, one for all classes or one for each.
 * Cells that are missing (NaN) are integrated out.
 * @module
 */

import { dot, lowerFactor, solveLower, solveUpper } from "./matrix.js";

/** @typedef {import("./matrix.js").Vector} Vector */
/** @typedef {import("./matrix.js").Matrix} Matrix */
/** @typedef {import("./random.js").Random} Random */

/**
 * What columns are measured in: z = (x - origin)/scale, and which of them vary.
 * @typedef {object} Frame
 * @property {Vector} origin
 * @property {Vector} originLow the second double of the origin
 * @property {Vector} scale
 * @property {boolean[]} active
 * @property {Matrix} means of the classes, in z
 */

/** Standard deviations at which cells are held: beyond, squares would leave the range. */
const FAR = 1e140;
const LOG_TAU = Math.log(2 * Math.PI);

/**
 * Return (x - origin)/scale, held within what can be squared.
 * @param {Frame} frame
 * @param {number} x
 * @param {number} j
 * @returns {number}
 */
export function standardized(frame, x, j) {
  const z = (x - frame.origin[j] - frame.originLow[j]) / frame.scale[j];
  return z > FAR ? FAR : z < -FAR ? -FAR : z;
}

/**
 * Return the columns of a frame that are kept.
 * @param {Frame} frame
 * @param {boolean[]} seen
 * @returns {Frame}
 */
export function framePart(frame, seen) {
  /** @template T @param {T[]} values @returns {T[]} */
  const kept = (values) => values.filter((_, j) => seen[j]);
  return {
    origin: kept(frame.origin),
    originLow: kept(frame.originLow),
    scale: kept(frame.scale),
    active: kept(frame.active),
    means: frame.means.map(kept),
  };
}

/**
 * Return which cells are there, or null where all are.
 * @param {ArrayLike<number>} x
 * @returns {boolean[] | null}
 */
export function seenCells(x) {
  let every = true;
  const seen = new Array(x.length);
  for (let j = 0; j < x.length; j++) every = (seen[j] = !Number.isNaN(x[j])) && every;
  return every ? null : seen;
}

/** The densities of normal classes with full covariances. */
export class FullNormals {
  /**
   * @param {Frame} frame
   * @param {Matrix[]} factors L of the covariances LLᵀ over the active columns, once if shared
   * @param {number} rank the number of directions that vary
   * @param {{ linear?: { weights: Matrix, offsets: Vector } | null, whitenings?: Matrix[] | null }}
   *   [known] what was computed already: near singular covariances, another order of sums would
   *   give other digits
   */
  constructor(frame, factors, rank, known = {}) {
    this.linear = known.linear ?? null;
    this.whitenings = known.whitenings ?? null;
    this.frame = frame;
    this.factors = factors;
    this.rank = rank;
    this.size = frame.means.length;
    this.width = frame.origin.length;
    this.isShared = factors.length === 1;
    this.places = frame.active.flatMap((active, j) => (active ? [j] : []));
    this.logScale = this.places.reduce((sum, j) => sum + Math.log(frame.scale[j]), 0);
    this.whiteMeans = frame.means.map((mean, c) => this.white(c, this.places.map((j) => mean[j])));
    this.logVolumes = frame.means.map((_, c) => {
      const L = this.factor(c);
      let sum = this.logScale + (L.length * LOG_TAU) / 2;
      for (let i = 0; i < L.length; i++) sum += Math.log(L[i][i]);
      return sum;
    });
    /** @type {Map<string, FullNormals>} */
    this.marginals = new Map();
  }

  /** @param {number} c @returns {Matrix} */
  factor(c) {
    return this.factors[this.isShared ? 0 : c];
  }

  /**
   * Return L⁻¹z of class c.
   * @param {number} c
   * @param {Vector} z
   * @returns {Vector}
   */
  white(c, z) {
    if (this.whitenings === null) return solveLower(this.factor(c), z);
    return this.whitenings[this.isShared ? 0 : c].map((row, i) => {
      let sum = 0;
      for (let k = 0; k <= i; k++) sum += row[k] * z[k];
      return sum;
    });
  }

  /** @param {ArrayLike<number>} x @returns {Vector} */
  z(x) {
    return this.places.map((j) => standardized(this.frame, x[j], j));
  }

  /**
   * Return numbers whose differences between classes are those of log p(x, c).
   * @param {ArrayLike<number>} x
   * @param {Vector} logPriors
   * @returns {Vector}
   */
  scores(x, logPriors) {
    const seen = seenCells(x);
    if (seen !== null) return this.of(seen).scores(part(x, seen), logPriors);
    if (!this.isShared) return this.logDensities(x).map((log, c) => log + logPriors[c]);
    const { linear, frame } = this;
    if (linear !== null) {
      return linear.weights.map((weights, c) => {
        let sum = linear.offsets[c] + logPriors[c];
        for (const j of this.places) {
          const far = FAR * frame.scale[j];
          sum += weights[j] * Math.max(-far, Math.min(far, x[j] - frame.origin[j]));
        }
        return sum;
      });
    }
    const white = this.white(0, this.z(x));
    return this.whiteMeans.map((mean, c) => dot(mean, white) - dot(mean, mean) / 2 + logPriors[c]);
  }

  /**
   * Return log p(x | c).
   * @param {ArrayLike<number>} x
   * @returns {Vector}
   */
  logDensities(x) {
    const seen = seenCells(x);
    if (seen !== null) return this.of(seen).logDensities(part(x, seen));
    return this.squares(x).squares.map((square, c) => -square / 2 - this.logVolumes[c]);
  }

  /**
   * Return squared Mahalanobis distances and how many directions they run over.
   * @param {ArrayLike<number>} x
   * @returns {{ squares: Vector, rank: number }}
   */
  squares(x) {
    const seen = seenCells(x);
    if (seen !== null) return this.of(seen).squares(part(x, seen));
    const z = this.z(x);
    const shared = this.isShared ? this.white(0, z) : null;
    const squares = this.whiteMeans.map((mean, c) => {
      const white = shared ?? this.white(c, z);
      let sum = 0;
      for (let i = 0; i < white.length; i++) sum += (white[i] - mean[i]) ** 2;
      return sum;
    });
    return { squares, rank: this.rank };
  }

  /**
   * Return what columns add to the log odds of two classes: flat boundaries θ_j(x_j - origin_j),
   * curved ones ½(u P u) of both classes.
   * @param {ArrayLike<number>} x
   * @param {number} of
   * @param {number} against
   * @returns {{ baseline: number, parts: Vector }} without priors
   */
  explain(x, of, against) {
    const seen = seenCells(x);
    if (seen !== null) return spread(this.of(seen).explain(part(x, seen), of, against), seen);
    const parts = new Array(this.width).fill(0);
    const { places, frame } = this;
    if (this.isShared) {
      const gap = this.whiteMeans[of].map((value, i) => value - this.whiteMeans[against][i]);
      const theta = solveUpper(this.factors[0], gap);
      let baseline = (dot(this.whiteMeans[against], this.whiteMeans[against]) -
        dot(this.whiteMeans[of], this.whiteMeans[of])) / 2;
      places.forEach((j, i) => {
        baseline -= (theta[i] * frame.originLow[j]) / frame.scale[j];
        parts[j] = theta[i] === 0 ? 0 : (theta[i] * (x[j] - frame.origin[j])) / frame.scale[j];
      });
      return { baseline, parts };
    }
    const z = this.z(x);
    for (const [c, sign] of /** @type {[number, number][]} */ ([[against, 0.5], [of, -0.5]])) {
      const u = places.map((j, i) => z[i] - frame.means[c][j]);
      const back = solveUpper(this.factor(c), this.white(c, u));
      places.forEach((j, i) => (parts[j] += sign * u[i] * back[i]));
    }
    return { baseline: this.logVolumes[against] - this.logVolumes[of], parts };
  }

  /**
   * Return the law of the columns that are seen.
   * @param {boolean[]} seen
   * @returns {FullNormals}
   */
  of(seen) {
    const key = seen.map(Number).join("");
    let found = this.marginals.get(key);
    if (found === undefined) {
      const inner = this.places.map((j) => seen[j]);
      const factors = this.factors.map((L) => lowerFactor(L.filter((_, i) => inner[i])));
      const many = inner.filter(Boolean).length;
      const lacking = this.places.length - this.rank;
      const rank = Math.max(0, Math.min(many, many - lacking + inner.length - many));
      found = new FullNormals(framePart(this.frame, seen), factors, rank);
      if (this.marginals.size > 200) this.marginals.clear();
      this.marginals.set(key, found);
    }
    return found;
  }

  /**
   * Draw a row of class c.
   * @param {number} c
   * @param {Random} random
   * @returns {Vector}
   */
  sample(c, random) {
    const { frame, places } = this;
    const L = this.factor(c);
    const normal = places.map(() => random.normal());
    const z = frame.means[c].slice();
    places.forEach((j, i) => (z[j] += dot(L[i].slice(0, i + 1), normal)));
    return z.map((value, j) => frame.origin[j] + (frame.originLow[j] + value * frame.scale[j]));
  }
}

/** The densities of normal classes with independent columns. */
export class DiagonalNormals {
  /**
   * @param {Frame} frame
   * @param {Matrix} deviations of the classes, in z; once if all share them
   */
  constructor(frame, deviations) {
    this.frame = frame;
    this.deviations = deviations;
    this.size = frame.means.length;
    this.width = frame.origin.length;
    this.isShared = deviations.length === 1;
  }

  /** @param {number} c @returns {Vector} */
  deviation(c) {
    return this.deviations[this.isShared ? 0 : c];
  }

  /** @param {ArrayLike<number>} x @param {Vector} logPriors @returns {Vector} */
  scores(x, logPriors) {
    if (!this.isShared) return this.logDensities(x).map((log, c) => log + logPriors[c]);
    const { frame } = this;
    return frame.means.map((mean, c) => {
      let sum = logPriors[c];
      for (let j = 0; j < this.width; j++) {
        if (Number.isNaN(x[j]) || !frame.active[j]) continue;
        const slope = mean[j] / this.deviations[0][j] ** 2;
        sum += slope * (standardized(frame, x[j], j) - mean[j] / 2);
      }
      return sum;
    });
  }

  /** @param {ArrayLike<number>} x @returns {Vector} */
  logDensities(x) {
    const { frame } = this;
    return frame.means.map((mean, c) => {
      const deviation = this.deviation(c);
      let sum = 0;
      for (let j = 0; j < this.width; j++) {
        if (Number.isNaN(x[j]) || !frame.active[j]) continue;
        const u = (standardized(frame, x[j], j) - mean[j]) / deviation[j];
        sum -= (u * u) / 2 + Math.log(deviation[j]) + Math.log(frame.scale[j]) + LOG_TAU / 2;
      }
      return sum;
    });
  }

  /** @param {ArrayLike<number>} x @returns {{ squares: Vector, rank: number }} */
  squares(x) {
    const { frame } = this;
    let rank = 0;
    for (let j = 0; j < this.width; j++) rank += frame.active[j] && !Number.isNaN(x[j]) ? 1 : 0;
    const squares = frame.means.map((mean, c) => {
      let sum = 0;
      for (let j = 0; j < this.width; j++) {
        if (Number.isNaN(x[j]) || !frame.active[j]) continue;
        sum += ((standardized(frame, x[j], j) - mean[j]) / this.deviation(c)[j]) ** 2;
      }
      return sum;
    });
    return { squares, rank };
  }

  /**
   * @param {ArrayLike<number>} x
   * @param {number} of
   * @param {number} against
   * @returns {{ baseline: number, parts: Vector }} without priors
   */
  explain(x, of, against) {
    const { frame } = this;
    const parts = new Array(this.width).fill(0);
    let baseline = 0;
    for (let j = 0; j < this.width; j++) {
      if (Number.isNaN(x[j]) || !frame.active[j]) continue;
      const [m, n] = [frame.means[of][j], frame.means[against][j]];
      if (this.isShared) {
        const theta = (m - n) / this.deviations[0][j] ** 2;
        const middle = (m + n) / 2 + frame.originLow[j] / frame.scale[j];
        parts[j] = theta === 0 ? 0 : (theta * (x[j] - frame.origin[j])) / frame.scale[j];
        baseline -= theta * middle;
      } else {
        const z = standardized(frame, x[j], j);
        const [a, b] = [this.deviation(of)[j], this.deviation(against)[j]];
        parts[j] = 0.5 * ((z - n) / b) ** 2 - 0.5 * ((z - m) / a) ** 2;
        baseline += Math.log(b) - Math.log(a);
      }
    }
    return { baseline, parts };
  }

  /** @param {number} c @param {Random} random @returns {Vector} */
  sample(c, random) {
    const { frame } = this;
    const deviation = this.deviation(c);
    return frame.means[c].map((mean, j) => {
      const z = mean + (frame.active[j] ? deviation[j] * random.normal() : 0);
      return frame.origin[j] + (frame.originLow[j] + z * frame.scale[j]);
    });
  }
}

/** @param {ArrayLike<number>} x @param {boolean[]} seen @returns {Vector} */
function part(x, seen) {
  return Array.from(x).filter((_, j) => seen[j]);
}

/**
 * @param {{ baseline: number, parts: Vector }} found
 * @param {boolean[]} seen
 * @returns {{ baseline: number, parts: Vector }}
 */
export function spread(found, seen) {
  let place = 0;
  return { baseline: found.baseline, parts: seen.map((s) => (s ? found.parts[place++] : 0)) };
}
