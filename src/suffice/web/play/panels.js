/**
 * What is said beside the picture: shares at the cross, sums of the classes, θ of both schools.
 * @module
 */

import { byId, el, percent, short } from "../pages/dom.js";
import { asked, judged, scoreAt, UNUSUAL } from "./fitting.js";
import { bayesError } from "./worlds.js";

/** @typedef {import("./fitting.js").Fitted} Fitted */
/** @typedef {import("./state.js").State} State */

export const LETTERS = "ABCD";

/** What models are, in words. @type {Record<string, [string, string]>} */
export const MEANINGS = {
  shared: ["GDA: one covariance for all", "Classes are normal with one covariance (LDA). The boundary is a line."],
  "per-class": ["GDA: one for each class", "Classes are normal, each with its own covariance (QDA). The boundary is curved."],
  "shared-diagonal": ["GDA: diagonal, shared", "Columns are independent, with the same variances in every class."],
  "naive-bayes": ["Naive Bayes", "Columns are independent given the class: each class has two variances, and no correlation."],
  spherical: ["GDA: spherical", "Each class is round, with one variance."],
  logistic: ["Logistic regression", "Models only how likely each class is, not the points: it cannot say “none of these”."],
  perceptron: ["Perceptron", "A mistake moves the line; it stops only if a line separates the classes."],
  mixture: ["Mixture, by EM", "Nobody has named the classes: as many normal components as there are colours, found step by step."],
};

/** @param {string} colour @returns {HTMLElement} */
function chip(colour) {
  const made = el("span", { class: "chip", "aria-hidden": "true" });
  made.style.backgroundColor = colour;
  return made;
}

/**
 * Say what the model says at the cross.
 * @param {State} state
 * @param {Fitted | string} model
 * @param {string[]} colours
 */
export function showProbe(state, model, colours) {
  const [list, told] = [byId("probe"), byId("probe-told")];
  const [x, y] = state.probe.map((value, j) => (state.hidden[j] ? "blank" : short(value)));
  const found = typeof model === "string" ? null : asked(model, state.probe, state.hidden);
  if (typeof model === "string" || found === null) {
    list.replaceChildren();
    told.textContent = typeof model === "string" ? "" : `(${x}, ${y}): this model has no law of the points, and needs both cells.`;
    return;
  }
  if (list.children.length !== found.shares.length) {
    list.replaceChildren(...found.shares.map((_, c) => {
      const bar = el("span", { class: "bar" });
      bar.style.backgroundColor = colours[c];
      return el("li", { "data-class": LETTERS[c] },
        el("span", { class: "who" }, chip(colours[c]), LETTERS[c]),
        el("span", { class: "track", "aria-hidden": "true" }, bar), el("span", { class: "figure" }));
    }));
  }
  found.shares.forEach((share, c) => {
    const line = /** @type {HTMLElement} */ (list.children[c]);
    line.dataset.share = String(share);
    /** @type {HTMLElement} */ (line.querySelector(".bar")).style.width = `${100 * share}%`;
    /** @type {HTMLElement} */ (line.querySelector(".figure")).textContent = percent(share);
  });
  const parts = [`(${x}, ${y})`];
  if (found.evidence !== null) parts.push(`p(x) = ${short(found.evidence)}`);
  if (found.typicality !== null) {
    const most = Math.max(...found.typicality);
    const best = found.typicality.indexOf(most);
    parts.push(most < UNUSUAL ? `typical of none of these (${percent(most)} of ${LETTERS[best]})` : `typicality ${percent(most)} (${LETTERS[best]})`);
    told.dataset.typicality = String(most);
  } else delete told.dataset.typicality;
  if (model.kind === "perceptron") parts.push("a perceptron has sides, but no probabilities");
  told.textContent = parts.join("; ");
}

/**
 * Say what was learned.
 * @param {State} state
 * @param {Fitted | string} model
 * @param {string[]} colours
 */
export function showLearned(state, model, colours) {
  const [figures, notes, sums] = [byId("figures"), byId("notes"), byId("sums")];
  if (typeof model === "string") {
    figures.textContent = model;
    notes.replaceChildren();
    sums.replaceChildren();
    return;
  }
  const parts = [];
  if (model.kind !== "mixture" && state.points.length > 0) {
    const { right, loss } = judged(model, state.points);
    parts.push(`${right} of ${state.points.length} points are on their own side (${percent(right / state.points.length)})`);
    if (model.kind !== "perceptron") parts.push(`log-loss ${short(loss)}`);
  }
  if (model.normal !== null && model.kind !== "mixture") {
    const error = bayesError((x, y, c) => scoreAt(model.scores[c], x, y), model.classes, { steps: 90, wide: 9 });
    parts.push(`if the model were right, no classifier could have an error below ${percent(error)} (Bayes error, integrated)`);
    figures.dataset.error = String(error);
  }
  figures.textContent = `${parts.join("; ")}.`;
  notes.replaceChildren(...model.notes.map((note) => el("li", {}, note)));
  if (model.moments.length === 0) return;
  const head = ["class", "n", "prior", "mean x₁", "mean x₂", "S₁₁", "S₁₂", "S₂₂"];
  const total = model.moments.reduce((sum, m) => sum + m.weight, 0);
  sums.replaceChildren(
    el("caption", { class: "visually-hidden" }, "Sums of every class: weight, mean, scatter"),
    el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...model.moments.map((m, c) => el("tr", { "data-class": LETTERS[c] },
      el("th", { scope: "row" }, chip(colours[c]), LETTERS[c]),
      ...[m.weight, m.weight / total, ...m.mean, m.scatter[0][0], m.scatter[0][1], m.scatter[1][1]].map((value, j) =>
        el("td", {}, j === 0 ? String(Number(value.toFixed(1))) : short(value)))))),
  );
}

/**
 * Put θ of the two schools beside each other.
 * @param {Fitted | string} gda
 * @param {Fitted | string} logistic
 */
export function showTheta(gda, logistic) {
  const table = byId("theta");
  /** @type {[string, number[][] | null][]} */
  const schools = [
    ["implied by a shared covariance", typeof gda === "string" ? null : gda.theta],
    ["fitted by logistic regression", typeof logistic === "string" ? null : logistic.theta],
  ];
  const rows = schools.flatMap(([name, theta]) => (theta ?? []).map((weights, c) =>
    el("tr", { "data-school": name.split(" ")[0] }, el("th", { scope: "row" }, `${LETTERS[c + 1]}: ${name}`),
      ...weights.map((w) => el("td", { "data-value": w }, short(w))))));
  table.replaceChildren(
    el("caption", { class: "visually-hidden" }, "Weights of both schools"),
    el("thead", {}, el("tr", {}, ...["class", "θ₁", "θ₂", "θ₀"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows),
  );
}
