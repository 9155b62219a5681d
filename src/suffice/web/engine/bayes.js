/**
 * Bayes' rule in logarithms: the largest score is taken out before exponentials.
 * @module
 */

/**
 * Return log Σ exp(values); -∞ of nothing but -∞.
 * @param {ArrayLike<number>} values
 * @returns {number}
 */
export function logSumExp(values) {
  let top = -Infinity;
  for (let i = 0; i < values.length; i++) if (values[i] > top) top = values[i];
  if (top === -Infinity || top === Infinity) return top;
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += Math.exp(values[i] - top);
  return top + Math.log(sum);
}

/**
 * Return log p(y | x) out of scores that differ from log p(x, y) by one number; even shares where
 * every class is as impossible as the others.
 * @param {number[]} scores
 * @returns {number[]}
 */
export function normalized(scores) {
  const total = logSumExp(scores);
  if (total === -Infinity) return scores.map(() => -Math.log(scores.length));
  return scores.map((score) => score - total);
}

/**
 * Return p(y | x) out of scores.
 * @param {number[]} scores
 * @returns {number[]}
 */
export function softmax(scores) {
  const top = Math.max(...scores);
  if (top === -Infinity) return scores.map(() => 1 / scores.length);
  const parts = scores.map((score) => Math.exp(score - top));
  const total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / total);
}

/**
 * Return log(exp(a) + exp(b)).
 * @param {number} a
 * @param {number} b
 * @returns {number}
 */
export function logAddExp(a, b) {
  return logSumExp([a, b]);
}

/**
 * Return the place of the largest value: the first, in a tie.
 * @param {ArrayLike<number>} values
 * @returns {number}
 */
export function argmax(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

/**
 * Return the likeliest class and the runner-up: what an explanation compares by itself.
 * @param {number[]} scores
 * @returns {[number, number]}
 */
export function leadingTwo(scores) {
  const first = argmax(scores);
  let second = first === 0 ? 1 : 0;
  for (let c = 0; c < scores.length; c++) {
    if (c !== first && scores[c] > scores[second]) second = c;
  }
  return [first, second];
}

/**
 * Return the entropy of shares in bits: how much is not known.
 * @param {number[]} shares
 * @returns {number}
 */
export function entropy(shares) {
  return shares.reduce((sum, p) => (p > 0 ? sum - p * Math.log2(p) : sum), 0);
}
