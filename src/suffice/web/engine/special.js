/**
 * Gamma, beta and their incomplete integrals: what tails of F, χ² and Student's t are made of.
 * @module
 */

const STIRLING = [
  1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400,
];

/**
 * Return ln Γ(x) for x > 0, by Stirling's series from 10 on.
 * @param {number} x
 * @returns {number}
 */
export function logGamma(x) {
  if (!(x > 0)) return x === 0 ? Infinity : NaN;
  if (x === 1 || x === 2) return 0;
  let product = 1;
  while (x < 10) {
    product *= x;
    x += 1;
  }
  let series = 0;
  const square = 1 / (x * x);
  for (let i = STIRLING.length - 1; i >= 0; i--) series = series * square + STIRLING[i];
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series / x - Math.log(product);
}

/**
 * Return the regularized incomplete beta function I_x(a, b), by its continued fraction.
 * @param {number} a
 * @param {number} b
 * @param {number} x 0 … 1
 * @param {number} [rest] 1 - x, where that is known to more digits
 * @returns {number}
 */
export function betaInc(a, b, x, rest = 1 - x) {
  if (!(x > 0)) return 0;
  if (!(rest > 0)) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaInc(b, a, rest, x);
  const front = a * Math.log(x) + b * Math.log(rest) + logGamma(a + b) - logGamma(a) - logGamma(b);
  const tiny = 1e-300;
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  d = 1 / (Math.abs(d) < tiny ? tiny : d);
  let h = d;
  for (let m = 1; m < 10000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    c = 1 + even / c;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = Math.abs(c) < tiny ? tiny : c;
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = Math.abs(c) < tiny ? tiny : c;
    const step = d * c;
    h *= step;
    if (Math.abs(step - 1) < 1e-16) break;
  }
  return (Math.exp(front) * h) / a;
}

/**
 * Return Q(a, x), the upper regularized incomplete gamma function.
 * @param {number} a
 * @param {number} x
 * @returns {number}
 */
export function gammaTail(a, x) {
  if (!(x > 0)) return 1;
  if (x === Infinity) return 0;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < 10000 && Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  const tiny = 1e-300;
  let b = x + 1 - a;
  let c = 1 / tiny;
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < 10000; i++) {
    const an = -i * (i - a);
    b += 2;
    d = an * d + b;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = b + an / c;
    c = Math.abs(c) < tiny ? tiny : c;
    const step = d * c;
    h *= step;
    if (Math.abs(step - 1) < 1e-16) break;
  }
  return front * h;
}

/**
 * Return P(a χ² variable of some degrees of freedom exceeds x).
 * @param {number} x
 * @param {number} degrees
 * @returns {number}
 */
export function chiSquareTail(x, degrees) {
  return degrees === 0 ? (x > 0 ? 0 : 1) : gammaTail(degrees / 2, x / 2);
}

/**
 * Return P(a new row of the same law lies at least as far out).
 *
 * `square` is q = (x - m)ᵀS⁻¹(x - m), S the scatter with `freedom` degrees of freedom in `rank`
 * directions, and `leverage` 1/W: q/(1 + h)·(ν - D + 1)/D ~ F(D, ν - D + 1). Null where there were
 * too few rows to say.
 * @param {number} square
 * @param {number} rank
 * @param {number} freedom
 * @param {number} leverage
 * @returns {number | null}
 */
export function predictiveTail(square, rank, freedom, leverage) {
  if (rank === 0) return square > 0 ? 0 : 1;
  const spare = (freedom - rank + 1) / 2;
  if (!(spare > 0)) return null;
  if (square === Infinity) return 0;
  const f = square / (1 + leverage);
  return betaInc(spare, rank / 2, 1 / (1 + f), f / (1 + f));
}
