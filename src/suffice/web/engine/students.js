/**
 * Student's t in place of the normal law, where parameters were averaged over; several laws whose
 * posteriors are averaged; and classes that are mixtures of normal components.
 * @module
 */

import { logAddExp, logSumExp, normalized } from "./bayes.js";
import { lowerFactor, solveLower } from "./matrix.js";
import { framePart, seenCells, standardized } from "./normals.js";
import { logGamma } from "./special.js";

/** @typedef {import("./matrix.js").Vector} Vector */
/** @typedef {import("./matrix.js").Matrix} Matrix */
/** @typedef {import("./normals.js").Frame} Frame */
/** @typedef {import("./random.js").Random} Random */

/**
 * Return lnΓ((f + D)/2) - lnΓ(f/2) - (D/2)·ln(fπ).
 * @param {number} freedom
 * @param {number} width
 * @returns {number}
 */
function logNormalizer(freedom, width) {
  return (
    logGamma((freedom + width) / 2) - logGamma(freedom / 2) -
    (width / 2) * Math.log(freedom * Math.PI)
  );
}

/** Student's t with full scale matrices. */
export class FullStudents {
  /**
   * @param {Frame} frame
   * @param {Matrix[]} factors
   * @param {Vector} freedom
   * @param {Vector} stretches
   */
  constructor(frame, factors, freedom, stretches) {
    this.frame = frame;
    this.factors = factors;
    this.freedom = freedom;
    this.stretches = stretches;
    this.size = frame.means.length;
    this.isShared = false;
    this.places = frame.active.flatMap((active, j) => (active ? [j] : []));
  }

  /** @param {ArrayLike<number>} x @returns {Vector} */
  logDensities(x) {
    const seen = seenCells(x);
    if (seen !== null) {
      const inner = this.places.map((j) => seen[j]);
      const factors = this.factors.map((L) => lowerFactor(L.filter((_, i) => inner[i])));
      const law = new FullStudents(
        framePart(this.frame, seen), factors, this.freedom, this.stretches,
      );
      return law.logDensities(Array.from(x).filter((_, j) => seen[j]));
    }
    const { frame, places } = this;
    const width = places.length;
    const z = places.map((j) => standardized(frame, x[j], j));
    return frame.means.map((mean, c) => {
      const L = this.factors[this.factors.length === 1 ? 0 : c];
      const white = solveLower(L, places.map((j, i) => z[i] - mean[j]));
      const square = white.reduce((sum, u) => sum + u * u, 0) / this.stretches[c];
      const f = this.freedom[c];
      let log = logNormalizer(f, width) - (width / 2) * Math.log(this.stretches[c]);
      places.forEach((j, i) => (log -= Math.log(L[i][i]) + Math.log(frame.scale[j])));
      return log - ((f + width) / 2) * Math.log1p(square / f);
    });
  }

  /** @param {ArrayLike<number>} x @param {Vector} logPriors @returns {Vector} */
  scores(x, logPriors) {
    return this.logDensities(x).map((log, c) => log + logPriors[c]);
  }
}

/** Student's t of independent columns; `joint` classes have one variance for all of them. */
export class DiagonalStudents {
  /**
   * @param {Frame} frame
   * @param {Matrix} spreads the scale of every class and column
   * @param {Matrix} freedom
   * @param {boolean} joint
   */
  constructor(frame, spreads, freedom, joint) {
    this.frame = frame;
    this.spreads = spreads;
    this.freedom = freedom;
    this.joint = joint;
    this.size = frame.means.length;
    this.isShared = false;
  }

  /** @param {ArrayLike<number>} x @returns {Vector} */
  logDensities(x) {
    const { frame } = this;
    return frame.means.map((mean, c) => {
      let [logs, square, width] = [0, 0, 0];
      let f = 1;
      for (let j = 0; j < mean.length; j++) {
        if (!frame.active[j]) continue;
        f = this.joint && width === 0 && square === 0 ? this.freedom[c][j] : f;
        if (Number.isNaN(x[j])) continue;
        const unit = this.spreads[c][j];
        const u = (standardized(frame, x[j], j) - mean[j]) / unit;
        logs -= Math.log(unit) + Math.log(frame.scale[j]);
        width += 1;
        square += u * u;
        if (!this.joint) {
          const own = this.freedom[c][j];
          logs += logNormalizer(own, 1) - ((own + 1) / 2) * Math.log1p((u * u) / own);
        }
      }
      if (!this.joint) return logs;
      return logs + logNormalizer(f, width) - ((f + width) / 2) * Math.log1p(square / f);
    });
  }

  /** @param {ArrayLike<number>} x @param {Vector} logPriors @returns {Vector} */
  scores(x, logPriors) {
    return this.logDensities(x).map((log, c) => log + logPriors[c]);
  }
}

/** Several laws at several temperatures: their posteriors are averaged. */
export class AveragedLaws {
  /**
   * @param {{ scores: (x: ArrayLike<number>, p: Vector) => Vector,
   *   logDensities: (x: ArrayLike<number>) => Vector, size: number }[]} laws
   * @param {Vector} temperatures
   * @param {Matrix} shares of laws and temperatures
   */
  constructor(laws, temperatures, shares) {
    this.laws = laws;
    this.temperatures = temperatures;
    this.shares = shares;
    this.size = laws[0].size;
    this.isShared = false;
  }

  /** @param {ArrayLike<number>} x @param {Vector} logPriors @returns {Vector} */
  scores(x, logPriors) {
    /** @type {Vector | null} */
    let found = null;
    this.laws.forEach((law, g) => {
      const logs = law.scores(x, new Array(this.size).fill(0));
      const top = Math.max(...logs);
      this.temperatures.forEach((beta, b) => {
        const share = this.shares[g][b];
        if (!(share > 0)) return;
        const some = normalized(
          logs.map((log, c) => logPriors[c] + beta * (log - (Number.isFinite(top) ? top : 0))),
        ).map((log) => log + Math.log(share));
        found = found === null ? some : found.map((log, c) => logAddExp(log, some[c]));
      });
    });
    return found ?? logPriors;
  }

  /** @param {ArrayLike<number>} x @returns {Vector} of the mixture of the laws */
  logDensities(x) {
    const shares = this.shares.map((row) => row.reduce((sum, share) => sum + share, 0));
    const logs = this.laws.map((law) => law.logDensities(x));
    return logs[0].map((_, c) => logSumExp(logs.map((row, g) => row[c] + Math.log(shares[g]))));
  }
}

/** Classes that are mixtures: every component belongs to one class. */
export class MixtureLaws {
  /**
   * @param {import("./normals.js").FullNormals | import("./normals.js").DiagonalNormals} components
   * @param {Matrix} mixing shares of the components (classes, components)
   */
  constructor(components, mixing) {
    this.components = components;
    this.mixing = mixing;
    this.size = mixing.length;
    this.isShared = false;
  }

  /** @param {ArrayLike<number>} x @returns {Vector} */
  logDensities(x) {
    const logs = this.components.logDensities(x);
    return this.mixing.map((shares) => logSumExp(
      shares.flatMap((share, j) => (share > 0 ? [logs[j] + Math.log(share)] : []))));
  }

  /** @param {ArrayLike<number>} x @param {Vector} logPriors @returns {Vector} */
  scores(x, logPriors) {
    return this.logDensities(x).map((log, c) => log + logPriors[c]);
  }

  /** @param {number} c @param {Random} random @returns {Vector} */
  sample(c, random) {
    return this.components.sample(random.choice(this.mixing[c]), random);
  }
}
