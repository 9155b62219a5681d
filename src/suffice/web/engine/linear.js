/**
 * Linear classifiers: scores that are weights·(x - origin) + offsets; logistic and softmax
 * regression by Newton's method, and the perceptron.
 * @module
 */

import { normalized } from "./bayes.js";
import { cholesky, solveLower, solveUpper, zeros } from "./matrix.js";

/** @typedef {import("./matrix.js").Vector} Vector */
/** @typedef {import("./matrix.js").Matrix} Matrix */

/**
 * @typedef {object} LinearForm
 * @property {Matrix} weights
 * @property {Vector} offsets
 * @property {Vector} origin
 */

/**
 * Return one score a class.
 * @param {LinearForm} form
 * @param {ArrayLike<number>} x
 * @returns {Vector}
 */
export function linearScores(form, x) {
  return form.weights.map((weights, c) => {
    let sum = form.offsets[c];
    for (let j = 0; j < weights.length; j++) {
      if (weights[j] !== 0) sum += weights[j] * (x[j] - form.origin[j]);
    }
    return sum;
  });
}

/**
 * Return log p(y | x). Of two classes the weights are subtracted first; far out, where scores
 * leave the range of a double, rows are looked at from afar.
 * @param {LinearForm} form
 * @param {ArrayLike<number>} x
 * @returns {Vector}
 */
export function linearPosterior(form, x) {
  const scores = linearScores(form, x);
  if (scores.every(Number.isFinite)) return normalized(scores);
  const shrunk = form.weights.map((weights) => {
    let sum = 0;
    weights.forEach((w, j) => (sum += w * (x[j] * 2 ** -600 - form.origin[j] * 2 ** -600)));
    return sum;
  });
  const top = Math.max(...shrunk);
  return normalized(shrunk.map((score) => (score - top) * 2 ** 600));
}

/**
 * What Newton's method has found.
 * @typedef {object} LogisticFit
 * @property {Matrix} theta weights of the classes after the first, the intercept last
 * @property {number} loss the mean log-loss, without the penalty
 * @property {number} steps
 * @property {boolean} converged false where the classes can be told apart without error
 */

/**
 * Fit softmax regression of k classes: the first has no weights, others are compared with it. For
 * two classes this is logistic regression. Columns are standardized, and the penalty
 * is ½·penalty·Σw² of the weights they have then.
 * @param {Matrix} rows
 * @param {number[]} codes
 * @param {number} size the number of classes
 * @param {{ penalty?: number, steps?: number, start?: Matrix | null }} [options]
 * @returns {LogisticFit}
 */
export function fitLogistic(rows, codes, size, options = {}) {
  const { penalty = 0, steps = 100 } = options;
  const n = rows.length;
  const d = n === 0 ? 0 : rows[0].length;
  const mean = new Array(d).fill(0);
  const unit = new Array(d).fill(0);
  for (const row of rows) for (let j = 0; j < d; j++) mean[j] += row[j] / n;
  for (const row of rows) for (let j = 0; j < d; j++) unit[j] += (row[j] - mean[j]) ** 2 / n;
  for (let j = 0; j < d; j++) unit[j] = Math.sqrt(unit[j]) || 1;
  const width = d + 1;
  const many = (size - 1) * width;
  // One array for all rows, and one for the scores of a row: thousands of small ones cost more than the sums.
  const z = new Float64Array(n * width);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < d; j++) z[i * width + j] = (rows[i][j] - mean[j]) / unit[j];
    z[i * width + d] = 1;
  }
  const scores = new Float64Array(size);
  let theta = new Array(many).fill(0);
  if (options.start) {
    theta = options.start.flatMap((row) => [
      ...row.slice(0, d).map((w, j) => w * unit[j]),
      row[d] + row.slice(0, d).reduce((sum, w, j) => sum + w * mean[j], 0),
    ]);
  }
  /** @param {Vector} at @returns {number} */
  const objective = (at) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += rowLoss(z, i * width, codes[i], at, scores, width);
    return sum + penaltyOf(at);
  };
  /** @param {Vector} at @returns {number} */
  const penaltyOf = (at) => {
    let sum = 0;
    for (let a = 0; a < many; a++) {
      const j = a % width;
      if (j < d) sum += (penalty / 2) * at[a] ** 2;
    }
    return sum;
  };
  let value = objective(theta);
  let converged = false;
  let step = 0;
  for (; step < steps && size > 1 && n > 0; step++) {
    const { gradient, hessian } = curvature(z, codes, theta, scores, width);
    for (let a = 0; a < many; a++) {
      const j = a % width;
      if (j >= d) continue;
      gradient[a] += penalty * theta[a];
      hessian[a][a] += penalty;
    }
    const L = factored(hessian);
    const move = solveUpper(L, solveLower(L, gradient));
    const decrement = move.reduce((sum, m, a) => sum + m * gradient[a], 0);
    let length = 1;
    let next = theta;
    let found = Infinity;
    for (let half = 0; half < 40; half++) {
      next = theta.map((t, a) => t - length * move[a]);
      found = objective(next);
      if (found <= value + 1e-12 * Math.abs(value)) break;
      length /= 2;
    }
    theta = next;
    value = Math.min(found, value);
    if (decrement < 1e-22 * Math.max(1, n)) {
      converged = true;
      step += 1;
      break;
    }
  }
  const biggest = theta.reduce((most, t) => Math.max(most, Math.abs(t)), 0);
  const matrix = Array.from({ length: size - 1 }, (_, c) => {
    const own = theta.slice(c * width, (c + 1) * width);
    const weights = own.slice(0, d).map((w, j) => w / unit[j]);
    return [...weights, own[d] - weights.reduce((sum, w, j) => sum + w * mean[j], 0)];
  });
  const loss = n === 0 ? 0 : (value - penaltyOf(theta)) / n;
  return { theta: matrix, loss, steps: step, converged: converged && biggest < 1e3 && loss > 1e-9 };
}

/**
 * Return the form of fitted weights, about the origin.
 * @param {Matrix} theta
 * @returns {LinearForm}
 */
export function formOf(theta) {
  const d = theta.length === 0 ? 0 : theta[0].length - 1;
  return {
    weights: [new Array(d).fill(0), ...theta.map((row) => row.slice(0, d))],
    offsets: [0, ...theta.map((row) => row[d])],
    origin: new Array(d).fill(0),
  };
}

/**
 * @param {Float64Array} z @param {number} start of the row in z @param {number} code
 * @param {Vector} theta @param {Float64Array} scores room for those of the row @param {number} width
 * @returns {number}
 */
function rowLoss(z, start, code, theta, scores, width) {
  const size = scores.length;
  let top = 0;
  scores[0] = 0;
  for (let c = 1; c < size; c++) {
    let sum = 0;
    for (let j = 0; j < width; j++) sum += theta[(c - 1) * width + j] * z[start + j];
    scores[c] = sum;
    if (sum > top) top = sum;
  }
  let total = 0;
  for (let c = 0; c < size; c++) total += Math.exp(scores[c] - top);
  return top - scores[code] + Math.log(total);
}

/**
 * @param {Float64Array} z @param {number[]} codes @param {Vector} theta
 * @param {Float64Array} p room for the shares of a row @param {number} width
 * @returns {{ gradient: Vector, hessian: Matrix }}
 */
function curvature(z, codes, theta, p, width) {
  const size = p.length;
  const many = theta.length;
  const gradient = new Array(many).fill(0);
  const sums = new Float64Array(many * many);
  for (let i = 0, start = 0; i < codes.length; i++, start += width) {
    let top = 0;
    p[0] = 0;
    for (let c = 1; c < size; c++) {
      let sum = 0;
      for (let j = 0; j < width; j++) sum += theta[(c - 1) * width + j] * z[start + j];
      p[c] = sum;
      if (sum > top) top = sum;
    }
    let total = 0;
    for (let c = 0; c < size; c++) total += p[c] = Math.exp(p[c] - top);
    for (let c = 0; c < size; c++) p[c] /= total;
    for (let c = 1; c < size; c++) {
      const gap = p[c] - (codes[i] === c ? 1 : 0);
      const a = (c - 1) * width;
      for (let j = 0; j < width; j++) gradient[a + j] += gap * z[start + j];
      for (let e = 1; e <= c; e++) {
        const weight = p[c] * ((c === e ? 1 : 0) - p[e]);
        const b = (e - 1) * width;
        for (let j = 0; j < width; j++) {
          const line = (a + j) * many + b;
          const factor = weight * z[start + j];
          for (let k = 0; k < width; k++) sums[line + k] += factor * z[start + k];
        }
      }
    }
  }
  const hessian = zeros(many, many);
  for (let a = 0; a < many; a++) for (let b = 0; b <= a; b++) hessian[a][b] = hessian[b][a] = sums[a * many + b];
  return { gradient, hessian };
}

/** @param {Matrix} A @returns {Matrix} a factor of A, with a ridge where it has none */
function factored(A) {
  const most = A.reduce((top, row, i) => Math.max(top, row[i]), 0) || 1;
  for (let ridge = 0; ; ridge = ridge === 0 ? 1e-14 : ridge * 100) {
    const L = cholesky(A.map((row, i) => row.map((v, j) => (i === j ? v + ridge * most : v))));
    if (L !== null) return L;
  }
}

/**
 * Make one step of the perceptron: the row that comes next, if it is mistaken, moves the weights.
 * @param {Matrix} weights of the classes, the intercept last; changed in place
 * @param {ArrayLike<number>} x
 * @param {number} code
 * @returns {boolean} whether the row was mistaken
 */
export function perceptronStep(weights, x, code) {
  const d = weights[0].length - 1;
  let own = 0;
  let best = -1;
  let most = -Infinity;
  weights.forEach((row, c) => {
    let sum = row[d];
    for (let j = 0; j < d; j++) sum += row[j] * x[j];
    if (c === code) own = sum;
    else if (sum > most) {
      best = c;
      most = sum;
    }
  });
  // A tie is a mistake, so that nothing at all is not taken for a plane.
  if (best < 0 || own > most) return false;
  for (let j = 0; j < d; j++) {
    weights[code][j] += x[j];
    weights[best][j] -= x[j];
  }
  weights[code][d] += 1;
  weights[best][d] -= 1;
  return true;
}
