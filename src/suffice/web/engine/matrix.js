/**
 * Small dense matrices as arrays of rows: factors, solutions, and what is left of a factor when
 * columns go.
 * @module
 */

/** @typedef {number[]} Vector */
/** @typedef {number[][]} Matrix */

/**
 * Return the sum of products.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 * @returns {number}
 */
export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * Return a matrix of zeros.
 * @param {number} rows
 * @param {number} columns
 * @returns {Matrix}
 */
export function zeros(rows, columns) {
  return Array.from({ length: rows }, () => new Array(columns).fill(0));
}

/**
 * Return L with LLᵀ = S, or null where S is not positive definite.
 * @param {Matrix} S
 * @returns {Matrix | null}
 */
export function cholesky(S) {
  const n = S.length;
  const L = zeros(n, n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = S[i][j];
      for (let k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
      if (i === j) {
        if (!(sum > 0)) return null;
        L[i][i] = Math.sqrt(sum);
      } else L[i][j] = sum / L[j][j];
    }
  }
  return L;
}

/**
 * Return L⁻¹b by forward substitution: whitening, where L is the factor of a covariance.
 * @param {Matrix} L
 * @param {ArrayLike<number>} b
 * @returns {Vector}
 */
export function solveLower(L, b) {
  const x = new Array(L.length);
  for (let i = 0; i < L.length; i++) {
    let sum = b[i];
    for (let k = 0; k < i; k++) sum -= L[i][k] * x[k];
    x[i] = sum / L[i][i];
  }
  return x;
}

/**
 * Return L⁻ᵀb by backward substitution.
 * @param {Matrix} L
 * @param {ArrayLike<number>} b
 * @returns {Vector}
 */
export function solveUpper(L, b) {
  const n = L.length;
  const x = new Array(n);
  for (let i = n - 1; i >= 0; i--) {
    let sum = b[i];
    for (let k = i + 1; k < n; k++) sum -= L[k][i] * x[k];
    x[i] = sum / L[i][i];
  }
  return x;
}

/**
 * Return a lower triangular T of positive diagonal with TTᵀ = RRᵀ, for rows R of a factor: what
 * is left of a normal law when columns go. Columns are turned by Householder's reflections, so
 * that nothing is squared.
 * @param {Matrix} R as many columns as rows, or more
 * @returns {Matrix}
 */
export function lowerFactor(R) {
  const n = R.length;
  if (n === 0) return [];
  const m = R[0].length;
  const A = R.map((row) => row.slice());
  for (let i = 0; i < n; i++) {
    let most = 0;
    for (let k = i; k < m; k++) most = Math.max(most, Math.abs(A[i][k]));
    if (most === 0) continue;
    let norm = 0;
    for (let k = i; k < m; k++) norm += (A[i][k] / most) ** 2;
    norm = most * Math.sqrt(norm);
    const alpha = A[i][i] > 0 ? -norm : norm;
    const v = A[i].slice(i);
    v[0] -= alpha;
    const square = dot(v, v);
    if (square === 0) continue;
    for (let r = i; r < n; r++) {
      let along = 0;
      for (let k = i; k < m; k++) along += A[r][k] * v[k - i];
      along *= 2 / square;
      for (let k = i; k < m; k++) A[r][k] -= along * v[k - i];
    }
  }
  return A.map((row, i) =>
    row.slice(0, n).map((value, j) => (j > i ? 0 : A[j][j] < 0 ? -value : value)),
  );
}

/**
 * Solve Ax = b of a symmetric positive definite A; null where it is not.
 * @param {Matrix} A
 * @param {Vector} b
 * @returns {Vector | null}
 */
export function solvePositive(A, b) {
  const L = cholesky(A);
  return L === null ? null : solveUpper(L, solveLower(L, b));
}

/**
 * Return eigenvalues, the largest first, and eigenvectors of a symmetric 2×2 matrix.
 * @param {Matrix} S
 * @returns {{ values: [number, number], vectors: [Vector, Vector] }}
 */
export function eigen2(S) {
  const [a, b, d] = [S[0][0], S[0][1], S[1][1]];
  const middle = (a + d) / 2;
  const reach = Math.hypot((a - d) / 2, b);
  const angle = 0.5 * Math.atan2(2 * b, a - d);
  return {
    values: [middle + reach, Math.max(middle - reach, 0)],
    vectors: [
      [Math.cos(angle), Math.sin(angle)],
      [-Math.sin(angle), Math.cos(angle)],
    ],
  };
}
