/**
 * A dozen exercises: a state to begin with, and a question.
 * @module
 */

import { Random } from "../engine/random.js";
import { addressOf, emptyState, rounded } from "./state.js";
import { drawn, worldNamed } from "./worlds.js";

/** @typedef {import("./state.js").State} State */

/**
 * @param {string} world
 * @param {number} n
 * @param {Partial<State>} [more]
 * @param {number} [seed]
 * @returns {string}
 */
function address(world, n, more = {}, seed = 1) {
  const state = { ...emptyState(), ...more };
  state.points = drawn(worldNamed(world), n, state.classes, new Random(seed)).map(({ x, y, c }) => ({
    c, x: rounded(Math.max(-4.9, Math.min(4.9, x))), y: rounded(Math.max(-3.7, Math.min(3.7, y))),
  }));
  return addressOf(state);
}

/** @returns {{ title: string, question: string, address: string }[]} */
export function exercises() {
  const show = emptyState().show;
  return [
    { title: "Two Gaussians", question: "Drag a point far out. Which moves further: the mean of its class, or the boundary?", address: address("normal", 60) },
    { title: "A line, whatever the points", question: "With one shared covariance the boundary is straight. Can you paint points that make it curve? Then choose “one for each class”.", address: address("unequal", 80) },
    { title: "Boundaries that curve", question: "One class is round and wide, the other narrow. Find a place that lies nearer to the narrow class’s mean and belongs to the wide one.", address: address("unequal", 120, { model: "per-class" }) },
    { title: "Independent columns", question: "Naive Bayes has ellipses that stand upright. Where does that cost the most points here?", address: address("normal", 120, { model: "naive-bayes" }) },
    { title: "Priors", question: "Erase most points of one class. Which way does the boundary go, and why?", address: address("normal", 100, { show: { ...show, contours: true } }, 3) },
    { title: "Two schools", question: "GDA and logistic regression side by side. Paint ten points of class B far to the right of all others: which boundary moves?", address: address("normal", 60, { both: true }) },
    { title: "The implied θ", question: "A shared covariance implies a θ. Compare it with the fitted one in the table. How do they differ at 20 points, and at 400?", address: address("normal", 20, { both: true }, 4) },
    { title: "When normal is wrong", question: "These are counts, and their log odds are linear. Which school is nearer to the other’s boundary, and which is right?", address: address("poisson", 200, { both: true }) },
    { title: "None of these", question: "Grey stripes are places that are typical of no class. How sure is the model there? Move the cross and read off both.", address: address("normal", 80, { model: "per-class", show: { ...show, none: true }, probe: [4, 3] }) },
    { title: "A blank cell", question: "The second cell of the cross is blank. Why does the answer still depend on the covariance of both columns? Compare naive Bayes.", address: address("normal", 80, { probe: [0.5, 0], hidden: [false, true] }) },
    { title: "Mistakes", question: "Step the perceptron until it makes no more mistakes. Then drag one point across, and try again.", address: address("normal", 24, { model: "perceptron" }, 6) },
    { title: "Nobody has named the classes", question: "Step EM and watch the log-likelihood rise. Does it find the classes? Begin again: does it find the same ones?", address: address("unequal", 150, { model: "mixture", classes: 3 }) },
    { title: "Outliers", question: "Heavy tails. One point far out pulls GDA’s covariance; what does it do to logistic regression?", address: address("heavy", 80, { both: true }, 2) },
  ];
}
