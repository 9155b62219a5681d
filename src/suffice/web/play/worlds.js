/**
 * Worlds that rows come from: laws that are known, so that the best possible answer is known too.
 * @module
 */

import { logGamma } from "../engine/special.js";

/** @typedef {import("../engine/random.js").Random} Random */
/** @typedef {{ x: number, y: number, c: number }} Point */

/**
 * A law of two columns in each of two or more classes.
 * @typedef {object} World
 * @property {string} name
 * @property {string} told what it is, in words
 * @property {(c: number, random: Random) => [number, number]} draw
 * @property {(x: number, y: number, c: number) => number} logDensity
 * @property {boolean} whole whether columns are whole numbers
 */

/** The plane that is shown: from -WIDE to WIDE, and from -HIGH to HIGH. */
export const WIDE = 5;
export const HIGH = 3.75;

const CENTRES = [[-1.3, -0.5], [1.3, 0.6], [0.2, 2.4], [0.4, -2.6]];
const SPREADS = [[[0.8, 0.35], [0, 0.7]], [[1.5, -0.2], [0, 0.45]], [[0.5, 0], [0, 0.5]], [[1.2, 0], [0, 0.3]]];
const RATES = [[2, 5], [4, 3], [7, 7], [1, 1]];

/** @param {number} c @param {number[][]} R @param {number} z @param {number} w @returns {[number, number]} */
function turned(c, R, z, w) {
  return [CENTRES[c][0] + R[0][0] * z, CENTRES[c][1] + R[0][1] * z + R[1][1] * w];
}

/** @param {number} x @param {number} y @param {number} c @param {number[][]} R @returns {[number, number, number]} z, w and log|R| */
function whitened(x, y, c, R) {
  const z = (x - CENTRES[c][0]) / R[0][0];
  const w = (y - CENTRES[c][1] - R[0][1] * z) / R[1][1];
  return [z, w, Math.log(R[0][0] * R[1][1])];
}

/** @param {(c: number) => number[][]} root @returns {Pick<World, "draw" | "logDensity" | "whole">} */
function normalWorld(root) {
  return {
    whole: false,
    draw: (c, random) => turned(c, root(c), random.normal(), random.normal()),
    logDensity: (x, y, c) => {
      const [z, w, log] = whitened(x, y, c, root(c));
      return -0.5 * (z * z + w * w) - log - Math.log(2 * Math.PI);
    },
  };
}

const FREEDOM = 2;

/** @type {World[]} */
export const WORLDS = [
  {
    name: "normal", told: "normal classes with one covariance: what GDA assumes",
    ...normalWorld(() => SPREADS[0]),
  },
  {
    name: "unequal", told: "normal classes, each with a covariance of its own",
    ...normalWorld((c) => SPREADS[c]),
  },
  {
    name: "poisson", told: "counts: not normal, but the log odds are linear", whole: true,
    draw: (c, random) => [random.poisson(RATES[c][0]) - 5, random.poisson(RATES[c][1]) - 5],
    logDensity: (x, y, c) => {
      const [i, j] = [x + 5, y + 5];
      if (i < 0 || j < 0 || !Number.isInteger(i) || !Number.isInteger(j)) return -Infinity;
      const [a, b] = RATES[c];
      return i * Math.log(a) - a - logGamma(i + 1) + j * Math.log(b) - b - logGamma(j + 1);
    },
  },
  {
    name: "heavy", told: "heavy tails (Student’s t with 2 degrees of freedom): a few points lie far away",
    whole: false,
    draw: (c, random) => {
      const wide = Math.sqrt(FREEDOM / (2 * random.gamma(FREEDOM / 2)));
      return turned(c, SPREADS[0], 0.6 * wide * random.normal(), 0.6 * wide * random.normal());
    },
    logDensity: (x, y, c) => {
      const [z, w, log] = whitened(x, y, c, SPREADS[0]);
      const square = (z * z + w * w) / 0.36;
      return -((FREEDOM + 2) / 2) * Math.log1p(square / FREEDOM) - log - Math.log(2 * Math.PI * 0.36);
    },
  },
];

/**
 * Return the world of a name; the first, where there is none.
 * @param {string} name
 * @returns {World}
 */
export function worldNamed(name) {
  return WORLDS.find((world) => world.name === name) ?? WORLDS[0];
}

/**
 * Draw rows of a world, classes one after the other.
 * @param {World} world
 * @param {number} n
 * @param {number} classes
 * @param {Random} random
 * @returns {Point[]}
 */
export function drawn(world, n, classes, random) {
  return Array.from({ length: n }, (_, i) => {
    const c = i % classes;
    const [x, y] = world.draw(c, random);
    return { x, y, c };
  });
}

/**
 * Return the Bayes error: 1 - ∫ max_c p(x, c) dx, over a plane that is wide enough.
 * @param {(x: number, y: number, c: number) => number} logJoint
 * @param {number} classes
 * @param {{ whole?: boolean, steps?: number, wide?: number }} [options]
 * @returns {number}
 */
export function bayesError(logJoint, classes, options = {}) {
  const { whole = false, steps = 240, wide = 12 } = options;
  if (whole) {
    let best = 0;
    for (let i = -5; i < 40; i++) {
      for (let j = -5; j < 40; j++) {
        let top = -Infinity;
        for (let c = 0; c < classes; c++) top = Math.max(top, logJoint(i, j, c));
        best += Math.exp(top);
      }
    }
    return Math.max(0, 1 - best);
  }
  // Both are summed on the same places, so that what lies outside of them is left out of both.
  const step = (2 * wide) / steps;
  let [best, all] = [0, 0];
  for (let i = 0; i < steps; i++) {
    const x = -wide + (i + 0.5) * step;
    for (let j = 0; j < steps; j++) {
      const y = -wide + (j + 0.5) * step;
      let [top, sum] = [0, 0];
      for (let c = 0; c < classes; c++) {
        const p = Math.exp(logJoint(x, y, c));
        sum += p;
        if (p > top) top = p;
      }
      best += top;
      all += sum;
    }
  }
  return all > 0 ? Math.max(0, 1 - best / all) : 0;
}
