/**
 * What a model says of one row: shares of the classes, reasons, and whether the row looks like any
 * of them.
 * @module
 */

import { entropy } from "../engine/bayes.js";
import { el, named, percent, short, signed } from "./dom.js";

/** @typedef {import("../engine/models.js").Answers} Answers */
/** @typedef {ReturnType<typeof import("../engine/models.js").answer>} Answer */

const MOST_CLASSES = 12;
const MOST_REASONS = 10;
/** The p-value below which a row looks like none of the classes. */
const UNUSUAL = 0.01;

/**
 * Show an answer.
 * @param {HTMLElement} place
 * @param {Answer} found
 * @param {string[]} labels
 * @param {string[]} colours
 * @param {boolean} blank whether nothing was said yet
 */
export function showAnswer(place, found, labels, colours, blank) {
  const { shares, of, typicality } = found;
  const order = shares.map((_, c) => c).sort((a, b) => shares[b] - shares[a] || a - b);
  const shown = order.slice(0, MOST_CLASSES);
  const bars = shown.map((c) =>
    el("li", { "data-class": labels[c], "data-share": shares[c] },
      el("span", { class: "who" }, named(labels[c], 40)),
      track(shares[c], colours[c % colours.length]),
      el("span", { class: "figure" }, percent(shares[c]))));
  const rest = order.slice(MOST_CLASSES);
  const others = rest.length === 0 ? null
    : el("p", { class: "soft" }, `${rest.length} other classes together: ${percent(
      rest.reduce((sum, c) => sum + shares[c], 0))}`);
  // Where blanks were seen in training, a blank category is an answer too.
  const moved = found.explanation?.parts.some((part) => part.value !== 0) ?? false;
  const told = blank
    ? el("p", { class: "verdict" }, moved
      ? "Nothing is filled in yet: this is the answer for a blank row."
      : "Nothing is known yet: these are the shares of the classes.")
    : el("p", { class: "verdict" }, el("strong", {}, named(labels[of], 40)), `, ${percent(shares[of])}`);
  place.replaceChildren(
    told,
    el("ul", { class: "shares", "aria-label": "Probability of each class" }, ...bars),
    ...[others, sureness(shares, blank), typical(typicality, labels, blank), reasons(found, labels)]
      .filter((one) => one !== null),
  );
}

/** @param {number} share @param {string} colour @returns {HTMLElement} */
function track(share, colour) {
  const bar = el("span", { class: "bar" });
  bar.style.width = `${100 * share}%`;
  bar.style.backgroundColor = colour;
  return el("span", { class: "track", "aria-hidden": "true" }, bar);
}

/** @param {number[]} shares @param {boolean} blank @returns {HTMLElement | null} */
function sureness(shares, blank) {
  if (blank || shares.length < 2) return null;
  const top = Math.max(...shares);
  if (top >= 0.8) return null;
  const bits = entropy(shares).toFixed(2);
  return el("p", { class: "care", id: "unsure" },
    `Not certain: the most likely class has ${percent(top)}, and ${bits} bits of uncertainty remain.`);
}

/** @param {number[] | null} typicality @param {string[]} labels @param {boolean} blank @returns {HTMLElement | null} */
function typical(typicality, labels, blank) {
  if (typicality === null || blank) return null;
  const best = typicality.indexOf(Math.max(...typicality));
  const p = typicality[best];
  const often = p < 0.0005 ? "fewer than 1 of 2,000" : `${percent(p)} of the`;
  const words = [`${often} rows of `, named(labels[best], 40), " lie as far out as this one."];
  if (p < UNUSUAL) {
    return el("p", { class: "care", id: "none-of-these", "data-typicality": p },
      el("strong", {}, "None of these? "), ...words);
  }
  return el("p", { class: "soft", id: "typical", "data-typicality": p }, "Typicality: ", ...words);
}

/** @param {Answer} found @param {string[]} labels @returns {HTMLElement | null} */
function reasons(found, labels) {
  const { explanation, of, against } = found;
  if (explanation === null) return null;
  const parts = explanation.parts.filter((part) => part.value !== 0)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const shown = parts.slice(0, MOST_REASONS);
  const rest = parts.slice(MOST_REASONS).reduce((sum, part) => sum + part.value, 0);
  const total = explanation.baseline + explanation.parts.reduce((sum, part) => sum + part.value, 0);
  const lines = [
    { name: "before any column is seen", value: explanation.baseline, own: true },
    ...shown.map((part) => ({ ...part, own: false })),
  ];
  if (parts.length > shown.length) {
    lines.push({ name: `${parts.length - shown.length} others together`, value: rest, own: true });
  }
  const most = Math.max(1e-9, ...lines.map((line) => (Number.isFinite(line.value) ? Math.abs(line.value) : 0)));
  return el("section", { class: "reasons" },
    el("h3", {}, "Why ", named(labels[of], 30), " rather than ", named(labels[against], 30), "?"),
    el("p", { class: "soft" }, `Log odds ${signed(total)}: the sum of what each adds for the first class (right) or against it (left).`),
    el("ul", { class: "parts" }, ...lines.map((line) => {
      const bar = el("span", { class: line.value < 0 ? "bar against" : "bar for" });
      const share = Number.isFinite(line.value) ? Math.abs(line.value) / most : 1;
      bar.style.width = `${50 * share}%`;
      if (line.value < 0) bar.style.left = `${50 - 50 * share}%`;
      return el("li", { "data-part": line.name, "data-value": line.value },
        el("span", { class: line.own ? "who soft" : "who" }, named(line.name, 44)),
        el("span", { class: "balance", "aria-hidden": "true" }, bar),
        el("span", { class: "figure" }, line.value === 0 ? short(0) : signed(line.value)));
    })));
}
