/**
 * Models of points on a plane. All of them score a class by a quadratic function of the place, so
 * that a picture of them is quick.
 * @module
 */

import { argmax, logSumExp, softmax } from "../engine/bayes.js";
import { fitNormal, impliedTheta, lawOf } from "../engine/gda.js";
import { fitLogistic } from "../engine/linear.js";
import { momentsByClass } from "../engine/moments.js";
import { normalTypicality } from "../engine/typicality.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./worlds.js").Point} Point */
/** @typedef {import("../engine/gda.js").NormalModel} NormalModel */
/** @typedef {import("../engine/moments.js").Moments} Moments */

/**
 * A model as it is drawn.
 * @typedef {object} Fitted
 * @property {string} kind
 * @property {number} classes
 * @property {number[][]} scores of every class: a, b, c, d, e, f of ax² + bxy + cy² + dx + ey + f
 * @property {NormalModel | null} normal the law of rows, where there is one
 * @property {{ freedom: number[], divisors: number[], weights: number[] } | null} sampling
 * @property {number[][] | null} theta log odds against the first class, the intercept last
 * @property {string[]} notes
 * @property {Moments[]} moments
 */

/** @type {Record<string, import("../engine/gda.js").Form>} */
export const FORMS = {
  shared: "shared", "per-class": "per-class", "shared-diagonal": "shared-diagonal",
  "naive-bayes": "diagonal", spherical: "spherical",
};

/**
 * Return the quadratic functions that normal classes are, log p(x, c), nothing left out.
 * @param {NormalModel} model
 * @returns {number[][]}
 */
export function quadratics(model) {
  return model.covariances.map((S, c) => {
    const [p, q] = model.law.frame.means[c];
    const det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
    const [A, B, D] = [S[1][1] / det, -S[0][1] / det, S[0][0] / det];
    const constant = model.logPriors[c] - Math.log(2 * Math.PI) - 0.5 * Math.log(det);
    return [
      -A / 2, -B, -D / 2, A * p + B * q, B * p + D * q,
      constant - (A * p * p + 2 * B * p * q + D * q * q) / 2,
    ];
  });
}

/**
 * @param {number[]} k a to f
 * @param {number} x
 * @param {number} y
 * @returns {number}
 */
export function scoreAt(k, x, y) {
  return (k[0] * x + k[1] * y + k[3]) * x + (k[2] * y + k[4]) * y + k[5];
}

/** @param {number[][]} theta @returns {number[][]} */
export function linearFunctions(theta) {
  return [[0, 0, 0, 0, 0, 0], ...theta.map(([a, b, c]) => [0, 0, 0, a, b, c])];
}

/**
 * Fit a model to the points.
 * @param {State} state
 * @param {string} kind
 * @param {number[][] | null} [start] of a θ that is nearly right already: a few steps lead there
 * @returns {Fitted | string} what is lacking, in words
 */
export function fitted(state, kind, start = null) {
  const { points, classes } = state;
  const rows = points.map(({ x, y }) => [x, y]);
  const codes = points.map(({ c }) => c);
  const counts = new Array(classes).fill(0);
  for (const code of codes) counts[code] += 1;
  if (state.pulled === null && counts.filter((n) => n > 0).length < 2) {
    return points.length === 0 ? "Paint some points, or draw them from a world." : "Paint points of a second class.";
  }
  const moments = rows.length === 0 ? [] : momentsByClass(rows, codes, classes);
  if (kind in FORMS) return normalFit(state, kind, moments, counts);
  const present = counts.flatMap((n, c) => (n > 0 ? [c] : []));
  const own = codes.map((code) => present.indexOf(code));
  const near = start !== null && start.length === present.length - 1 ? start : null;
  const found = fitLogistic(rows, own, present.length, { steps: near === null ? 60 : 2, start: near });
  /** @type {number[][]} */
  const scores = Array.from({ length: classes }, () => [0, 0, 0, 0, 0, -1e9]);
  linearFunctions(found.theta).forEach((k, i) => (scores[present[i]] = k));
  const notes = found.converged || near !== null ? [] : ["A line separates the classes: θ grows without limit, and was stopped."];
  return { kind, classes, scores, normal: null, sampling: null, theta: present.length === classes ? found.theta : null, notes, moments };
}

/** @param {State} state @param {string} kind @param {Moments[]} moments @param {number[]} counts @returns {Fitted} */
function normalFit(state, kind, moments, counts) {
  const form = FORMS[kind];
  const shared = form.startsWith("shared");
  /** @type {NormalModel} */
  let normal;
  let sampling = null;
  /** @type {string[]} */
  const notes = [];
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (state.pulled !== null) {
    const laws = state.pulled;
    const covariances = laws.map(({ S: [a, b, d] }) => [[a, b], [b, d]]);
    const means = laws.map(({ mean }) => [...mean]);
    const every = counts.every((n) => n > 0);
    normal = {
      logPriors: counts.map((n) => Math.log(every ? n / total : 1 / counts.length)),
      law: lawOf(means, covariances, true), covariances, floored: [],
    };
    notes.push("Moved by hand: these parameters are yours, not those of the points.");
  } else {
    normal = fitNormal(moments, form);
    for (const c of shared ? normal.floored.slice(0, 1) : normal.floored) {
      notes.push(`${shared ? "There are" : `Class ${"ABCD"[c]} has`} too few points for a covariance: it was widened.`);
    }
    if (form === "shared" || form === "per-class") {
      const freedom = counts.map((n) => (form === "shared" ? total - counts.length : n - 1));
      const divisors = counts.map((n) => (form === "shared" ? total : n));
      if (counts.every((n) => n > 0) && freedom.every((nu) => nu >= 2)) sampling = { freedom, divisors, weights: counts };
    }
  }
  const theta = shared && counts.every((n) => n > 0) && state.pulled === null ? impliedTheta(normal) : null;
  const scores = quadratics(normal).map((k) => (Number.isFinite(k[5]) ? k : [0, 0, 0, 0, 0, -1e9]));
  return { kind, classes: state.classes, scores, normal, sampling, theta, notes, moments };
}

/**
 * Return a mixture as it is drawn.
 * @param {NormalModel} normal
 * @param {Moments[]} moments
 * @returns {Fitted}
 */
export function mixtureFit(normal, moments) {
  return {
    kind: "mixture", classes: normal.logPriors.length, scores: quadratics(normal), normal,
    sampling: null, theta: null, notes: [], moments,
  };
}

/**
 * Return a perceptron as it is drawn.
 * @param {number[][]} weights
 * @param {Moments[]} moments
 * @returns {Fitted}
 */
export function perceptronFit(weights, moments) {
  return {
    kind: "perceptron", classes: weights.length, scores: weights.map(([a, b, c]) => [0, 0, 0, a, b, c]),
    normal: null, sampling: null, theta: weights.slice(1).map((w) => w.map((v, j) => v - weights[0][j])),
    notes: [], moments,
  };
}

/**
 * Return what a model says of a place some of whose cells may be blank.
 * @param {Fitted} model
 * @param {[number, number]} place
 * @param {[boolean, boolean]} hidden
 * @returns {{ shares: number[], evidence: number | null, typicality: number[] | null } | null} null:
 *   the model cannot do without a cell
 */
export function asked(model, place, hidden) {
  const x = place.map((value, j) => (hidden[j] ? NaN : value));
  const { normal } = model;
  if (normal !== null) {
    const joint = normal.law.logDensities(x).map((log, c) => {
      const all = log + normal.logPriors[c];
      return Number.isNaN(all) ? -Infinity : all;
    });
    const typicality = hidden[0] && hidden[1] ? null : normalTypicality(normal.law, x, model.sampling);
    return { shares: softmax(joint), evidence: Math.exp(logSumExp(joint)), typicality };
  }
  if (hidden.some(Boolean)) return null;
  const scores = model.scores.map((k) => scoreAt(k, place[0], place[1]));
  if (model.kind === "perceptron") {
    const best = argmax(scores);
    return { shares: scores.map((_, c) => (c === best ? 1 : 0)), evidence: null, typicality: null };
  }
  return { shares: softmax(scores), evidence: null, typicality: null };
}

/** The p-value below which a place belongs to none of the classes. */
export const UNUSUAL = 0.01;

/**
 * Return the squared distance of every class beyond which a place is none of its rows'.
 * @param {Fitted} model
 * @returns {number[]}
 */
export function edges(model) {
  return Array.from({ length: model.classes }, (_, c) => {
    let [low, high] = [0, 1e6];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      const squares = new Array(model.classes).fill(middle);
      const p = normalTypicality({ squares: () => ({ squares, rank: 2 }) }, [], model.sampling)[c];
      if (p < UNUSUAL) high = middle;
      else low = middle;
    }
    return high;
  });
}

/**
 * Return how many points are on their own side, and the mean log-loss.
 * @param {Fitted} model
 * @param {Point[]} points
 * @returns {{ right: number, loss: number }}
 */
export function judged(model, points) {
  let [right, loss] = [0, 0];
  for (const { x, y, c } of points) {
    const scores = model.scores.map((k) => scoreAt(k, x, y));
    right += argmax(scores) === c ? 1 : 0;
    loss -= scores[c] - logSumExp(scores);
  }
  return { right, loss: points.length === 0 ? 0 : loss / points.length };
}
