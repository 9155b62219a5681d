/**
 * Models that learn step by step: the perceptron row by row, a mixture by EM.
 * @module
 */

import { perceptronStep } from "../engine/linear.js";
import { emStep, expectation, firstComponents } from "../engine/mixture.js";
import { momentsByClass } from "../engine/moments.js";
import { Random } from "../engine/random.js";
import { mixtureFit, perceptronFit } from "./fitting.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./fitting.js").Fitted} Fitted */

/** A perceptron on its way through the points. */
export class PerceptronRun {
  /** @param {State} state */
  constructor(state) {
    this.rows = state.points.map(({ x, y }) => [x, y]);
    this.codes = state.points.map(({ c }) => c);
    this.weights = Array.from({ length: state.classes }, () => [0, 0, 0]);
    this.at = -1;
    this.steps = 0;
    this.mistakes = 0;
    /** Rows in a row without a mistake. */
    this.calm = 0;
    this.moments = momentsByClass(this.rows, this.codes, state.classes);
  }

  get done() {
    return this.calm >= this.rows.length;
  }

  /** Look at rows until one is mistaken, or none is. */
  step() {
    for (let i = 0; i < this.rows.length && !this.done; i++) {
      this.at = (this.at + 1) % this.rows.length;
      this.steps += 1;
      if (perceptronStep(this.weights, this.rows[this.at], this.codes[this.at])) {
        this.mistakes += 1;
        this.calm = 0;
        return;
      }
      this.calm += 1;
    }
  }

  /** @returns {Fitted} */
  fitted() {
    return perceptronFit(this.weights, this.moments);
  }

  /** @returns {number[][] | null} */
  responsibilities() {
    return null;
  }

  /** @returns {string} */
  told() {
    const rows = `${this.steps} rows looked at, ${this.mistakes} mistakes`;
    return this.done ? `${rows}: every point is on its own side.` : rows;
  }
}

/** A mixture on its way up. */
export class MixtureRun {
  /** @param {State} state @param {number} seed */
  constructor(state, seed) {
    this.rows = state.points.map(({ x, y }) => [x, y]);
    this.moments = momentsByClass(this.rows, state.points.map(({ c }) => c), state.classes);
    this.model = firstComponents(this.rows, state.classes, new Random(seed));
    const { shares, logLikelihood } = expectation(this.model, this.rows);
    this.shares = shares;
    this.likelihood = logLikelihood;
    this.steps = 0;
    this.done = false;
    this.at = -1;
  }

  step() {
    const found = emStep(this.model, this.rows, "per-class");
    this.model = found.model;
    const { shares, logLikelihood } = expectation(this.model, this.rows);
    this.done = logLikelihood - this.likelihood < 1e-7 * Math.abs(logLikelihood);
    this.shares = shares;
    this.likelihood = logLikelihood;
    this.steps += 1;
  }

  /** @returns {Fitted} */
  fitted() {
    return mixtureFit(this.model, this.moments);
  }

  /** @returns {number[][] | null} */
  responsibilities() {
    return this.shares;
  }

  /** @returns {string} */
  told() {
    return `${this.steps} steps, log-likelihood ${this.likelihood.toFixed(3)}${this.done ? ": it does not rise any more." : ""}`;
  }
}
