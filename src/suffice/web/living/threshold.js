/**
 * The threshold of a decision, moved: confusion matrix, costs, ROC and precision–recall follow.
 * @module
 */

import { cheapestOdds, costOf, countsAt, curveOf, fairOdds, oddsOf, rates, shareOf } from "../engine/decisions.js";
import { el, named, percent, short } from "../pages/dom.js";

/** @typedef {import("../engine/decisions.js").Steps} Steps */
/**
 * @typedef {object} Content
 * @property {string} model
 * @property {string[]} classes
 * @property {number} positive which of `steps` is shown first
 * @property {(Steps & { of: number })[]} steps
 * @property {boolean} merged whether rows with nearly the same odds are one step
 */

const SPACE = "http://www.w3.org/2000/svg";
/** The view of a picture, and the room left of it. */
const [SIZE, LEFT] = [300, 42];
const PLOT = SIZE - LEFT - 12;

/** @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text] @returns {SVGElement} */
function svg(tag, attributes, text) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @param {number} value @returns {number} */
const across = (value) => LEFT + value * PLOT;
/** @param {number} value @returns {number} */
const up = (value) => 12 + (1 - value) * PLOT;

/** A picture of two shares, with a point on its curve that can be moved. */
class Curve {
  /** @param {string} title @param {string} x @param {string} y @param {(odds: number) => void} choose */
  constructor(title, x, y, choose) {
    this.line = svg("path", { class: "curve" });
    this.dot = svg("circle", { class: "chosen-point", r: 6 });
    const parts = [0, 0.25, 0.5, 0.75, 1].flatMap((at) => [
      svg("path", { class: "rule", d: `M${across(0)} ${up(at)}H${across(1)}M${across(at)} ${up(0)}V${up(1)}` }),
      svg("text", { class: "tick", x: across(at), y: up(0) + 15, "text-anchor": "middle" }, String(at)),
      svg("text", { class: "tick", x: LEFT - 5, y: up(at) + 4, "text-anchor": "end" }, String(at)),
    ]);
    this.picture = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE - 2}`, class: "threshold-curve", role: "img", "aria-label": title });
    this.picture.append(...parts, this.line, this.dot,
      svg("text", { class: "tick", x: across(0.5), y: SIZE - 8, "text-anchor": "middle" }, x),
      svg("text", { class: "tick", x: 0, y: 0, "text-anchor": "middle", transform: `translate(11 ${up(0.5)}) rotate(-90)` }, y));
    /** @type {{ x: number, y: number, odds: number }[]} */
    this.points = [];
    let held = false;
    const seek = (/** @type {PointerEvent} */ event) => {
      const box = this.picture.getBoundingClientRect();
      const scale = SIZE / box.width;
      const [px, py] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      const near = this.points.map((point) => (across(point.x) - px) ** 2 + (up(point.y) - py) ** 2);
      choose(this.points[near.indexOf(Math.min(...near))].odds);
    };
    this.picture.addEventListener("pointerdown", (event) => {
      held = true;
      this.picture.setPointerCapture(event.pointerId);
      seek(event);
      event.preventDefault();
    });
    this.picture.addEventListener("pointermove", (event) => held && seek(event));
    for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) this.picture.addEventListener(end, () => (held = false));
  }

  /** @param {{ x: number, y: number, odds: number }[]} points @param {boolean} stairs */
  draw(points, stairs) {
    this.points = points;
    this.line.setAttribute("d", points.map(({ x, y }, i) => {
      const to = `${across(x).toFixed(2)} ${up(y).toFixed(2)}`;
      if (i === 0) return `M${to}`;
      return stairs ? `V${up(y).toFixed(2)}H${across(x).toFixed(2)}` : `L${to}`;
    }).join(""));
  }

  /** @param {number} x @param {number} y */
  mark(x, y) {
    const there = Number.isFinite(x) && Number.isFinite(y);
    this.dot.setAttribute("visibility", there ? "visible" : "hidden");
    if (!there) return;
    this.dot.setAttribute("cx", across(x).toFixed(2));
    this.dot.setAttribute("cy", up(y).toFixed(2));
  }
}

/** @param {number} count @returns {string} */
function told(count) {
  return Number(count.toFixed(2)).toLocaleString("en");
}

/** @param {number} share @returns {string} a threshold with as many digits as it needs */
function digits(share) {
  if (share > 0 && share < 0.0005) return share.toPrecision(2);
  return share < 1 && share > 0.9995 ? String(Math.floor(share * 1e6) / 1e6) : String(Math.round(share * 1e4) / 1e4);
}

/** @param {Content} content */
export function startThreshold(content) {
  const place = document.getElementById("calibration");
  if (place === null || content.steps.length === 0) return;
  let steps = content.steps[content.positive];
  let odds = 0;
  const id = (/** @type {string} */ name) => `threshold-${name}`;
  const choice = el("select", { id: id("class"), change: () => begin(Number(choice.value)) },
    ...content.steps.map(({ of }, i) => el("option", { value: i }, named(content.classes[of], 40).textContent ?? "")));
  const slider = el("input", { type: "range", id: id("slider"), min: 0, max: 1, step: 0.001, input: () => set(oddsOf(Number(slider.value))) });
  const number = el("input", { type: "text", inputmode: "decimal", id: id("number"), change: () => {
    const asked = Number(number.value.trim().replace(",", "."));
    const valid = number.value.trim() !== "" && asked >= 0 && asked <= 1;
    number.setAttribute("aria-invalid", String(!valid));
    problem.textContent = valid ? "" : "A threshold is a number from 0 to 1.";
    if (valid) set(oddsOf(asked));
  } });
  const problem = el("p", { class: "soft", role: "alert" });
  const cost = (/** @type {string} */ name) => el("input", { type: "text", inputmode: "decimal", id: id(name), value: "1", input: () => show() });
  const [alarm, miss] = [cost("alarm"), cost("miss")];
  const fair = el("button", { type: "button", id: id("fair"), click: () => set(fairOdds(...costs())) }, "Threshold by these costs");
  const cheapest = el("button", { type: "button", id: id("cheapest"), click: () => set(cheapestOdds(steps, ...costs())) }, "Cheapest on these rows");
  const table = el("table", { class: "confusion", id: id("counts") });
  const figures = el("p", { id: id("figures"), role: "status" });
  const roc = new Curve("ROC curve with the chosen threshold", "false positive rate", "true positive rate", (at) => set(at));
  const precision = new Curve("Precision and recall with the chosen threshold", "recall", "precision", (at) => set(at));

  /** @returns {[number, number]} */
  function costs() {
    return /** @type {[number, number]} */ ([alarm, miss].map((input) => {
      const asked = Number(input.value.trim().replace(",", "."));
      const valid = input.value.trim() !== "" && asked >= 0 && asked < 1e12;
      input.setAttribute("aria-invalid", String(!valid));
      return valid ? asked : 1;
    }));
  }

  /** @param {number} which */
  function begin(which) {
    steps = content.steps[which];
    const curve = curveOf(steps);
    roc.draw(curve.map(({ falseRate, recall, odds: at }) => ({ x: falseRate, y: recall, odds: at })), false);
    precision.draw(curve.map(({ recall, precision: share, odds: at }) => ({ x: recall, y: share, odds: at })), true);
    show();
  }

  /** @param {number} at */
  function set(at) {
    odds = at;
    number.setAttribute("aria-invalid", "false");
    problem.textContent = "";
    show();
  }

  function show() {
    const share = shareOf(odds);
    const counts = countsAt(steps, odds);
    const found = rates(counts);
    const of = content.classes[steps.of];
    const [costly, missed] = costs();
    if (document.activeElement !== slider) slider.value = String(share);
    slider.setAttribute("aria-valuetext", digits(share));
    number.value = digits(share);
    const cell = (/** @type {number} */ count, /** @type {boolean} */ right) => el("td", right ? { class: "right", "data-count": count } : { "data-count": count }, told(count));
    table.replaceChildren(
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "class ↓, decision →"),
        el("th", { scope: "col" }, named(of, 24)), el("th", { scope: "col" }, "not ", named(of, 24)))),
      el("tbody", {},
        el("tr", {}, el("th", { scope: "row" }, named(of, 24)), cell(counts.hits, true), cell(counts.misses, false)),
        el("tr", {}, el("th", { scope: "row" }, "not ", named(of, 24)), cell(counts.alarms, false), cell(counts.quiet, true))));
    const all = counts.hits + counts.alarms + counts.misses + counts.quiet;
    const total = costOf(counts, costly, missed);
    const part = (/** @type {string} */ words, /** @type {number} */ value) => `${words} ${Number.isFinite(value) ? exact(value) : "–"}`;
    figures.replaceChildren(
      [part("Precision", found.precision), part("recall", found.recall), part("false positive rate", found.falseRate), part("accuracy", found.accuracy)].join(", "),
      `. Cost ${told(total)}, ${short(total / all)} a row.`);
    Object.assign(figures.dataset, { odds: String(odds), cost: String(total), precision: String(found.precision), recall: String(found.recall) });
    roc.mark(found.falseRate, found.recall);
    precision.mark(found.recall, found.precision);
  }

  const rule = content.merged
    ? " Every row counts; rows with nearly the same probability move together, so that between two steps figures are those of the step above."
    : "";
  place.append(el("div", { class: "living", id: "threshold" },
    el("h3", {}, "Move the threshold"),
    el("p", {}, "A row is assigned to the class if its probability reaches the threshold. ", named(content.model),
      `, held-out rows.${rule}`),
    el("div", { class: "controls" },
      el("label", { for: id("class") }, "Class ", choice),
      el("label", { for: id("number") }, "Threshold ", number),
      el("label", { class: "long", for: id("slider") }, "from 0 to 1 ", slider),
      el("label", { for: id("alarm") }, "Cost of a false alarm ", alarm),
      el("label", { for: id("miss") }, "Cost of a miss ", miss),
      fair, cheapest), problem,
    el("div", { class: "three" },
      el("div", {}, el("div", { class: "wide" }, table), figures),
      el("figure", {}, roc.picture, el("figcaption", {}, "Touch or drag the curve to choose the threshold.")),
      el("figure", {}, precision.picture, el("figcaption", {}, "Precision by recall, of the same threshold.")))));
  choice.value = String(content.positive);
  begin(content.positive);
}

/** @param {number} share @returns {string} a share that was counted, and so may be all or nothing */
function exact(share) {
  return share === 0 || share === 1 ? `${100 * share} %` : percent(share);
}

