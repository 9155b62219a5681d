/**
 * Gaussian mixtures by expectation-maximization, one step at a time.
 * @module
 */

import { logSumExp } from "./bayes.js";
import { fitNormal } from "./gda.js";
import { Moments } from "./moments.js";

/** @typedef {import("./matrix.js").Vector} Vector */
/** @typedef {import("./matrix.js").Matrix} Matrix */
/** @typedef {import("./gda.js").NormalModel} NormalModel */
/** @typedef {import("./gda.js").Form} Form */
/** @typedef {import("./random.js").Random} Random */

/**
 * Return the sums of all rows under responsibilities.
 * @param {Matrix} rows
 * @param {Matrix} shares of every row, one number a component
 * @returns {Moments[]}
 */
export function weightedMoments(rows, shares) {
  const [size, width] = [shares[0].length, rows[0].length];
  return Array.from({ length: size }, (_, c) => {
    const found = new Moments(width);
    for (const row of shares) found.weight += row[c];
    if (!(found.weight > 0)) return found;
    rows.forEach((row, i) => row.forEach((x, j) => (found.mean[j] += (shares[i][c] * x) / found.weight)));
    rows.forEach((row, i) => {
      for (let j = 0; j < width; j++) {
        for (let k = 0; k < width; k++) {
          found.scatter[j][k] += shares[i][c] * (row[j] - found.mean[j]) * (row[k] - found.mean[k]);
        }
      }
    });
    return found;
  });
}

/**
 * The E-step: responsibilities of the components, and the log-likelihood.
 * @param {NormalModel} model
 * @param {Matrix} rows
 * @returns {{ shares: Matrix, logLikelihood: number }}
 */
export function expectation(model, rows) {
  let logLikelihood = 0;
  const shares = rows.map((row) => {
    const joint = model.law.logDensities(row).map((log, c) => log + model.logPriors[c]);
    const total = logSumExp(joint);
    logLikelihood += total;
    return joint.map((log) => Math.exp(log - total));
  });
  return { shares, logLikelihood };
}

/**
 * One step of EM: what rows say about the components, and the components that say so.
 * @param {NormalModel} model
 * @param {Matrix} rows
 * @param {Form} form
 * @returns {{ model: NormalModel, logLikelihood: number, shares: Matrix }}
 */
export function emStep(model, rows, form) {
  const { shares, logLikelihood } = expectation(model, rows);
  return { model: fitNormal(weightedMoments(rows, shares), form), logLikelihood, shares };
}

/**
 * Return components to begin with: centres that are far from each other (k-means++), each with the
 * spread of all rows.
 * @param {Matrix} rows
 * @param {number} size
 * @param {Random} random
 * @returns {NormalModel}
 */
export function firstComponents(rows, size, random) {
  const all = Moments.of(rows, rows[0].length);
  const centres = [rows[Math.floor(random.uniform() * rows.length)]];
  while (centres.length < size) {
    const away = rows.map((row) =>
      Math.min(...centres.map((m) => m.reduce((sum, v, j) => {
        const unit = all.scatter[j][j] / rows.length || 1;
        return sum + (row[j] - v) ** 2 / unit;
      }, 0))),
    );
    const far = away.some((a) => a > 0) ? away : away.map(() => 1);
    centres.push(rows[random.choice(far)]);
  }
  const moments = centres.map((mean) => {
    const found = new Moments(mean.length);
    found.weight = rows.length / size;
    found.mean = mean.slice();
    found.scatter = all.scatter.map((row) => row.map((v) => v / size / size));
    return found;
  });
  return fitNormal(moments, "per-class");
}
