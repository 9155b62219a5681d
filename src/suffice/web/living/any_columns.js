/**
 * The boundary picture of two columns that the reader chooses, fitted here.
 * @module
 */

import { argmax } from "../engine/bayes.js";
import { writtenDate } from "../engine/tables/date_writing.js";
import { el, named, percent, short } from "../pages/dom.js";
import { asked, fitted, judged } from "../play/fitting.js";
import { channels, Plane } from "../play/plane.js";
import { emptyState } from "../play/state.js";
import { HIGH, WIDE } from "../play/worlds.js";

/** @typedef {import("../play/worlds.js").Point} Point */
/**
 * @typedef {object} Content
 * @property {string[]} classes
 * @property {string} codes the class of every row, one byte each, in base64
 * @property {{ name: string, centre: number, scale: number, cells: string, date?: string, timed?: boolean }[]} columns
 *   cells as single floats in base64, centred and scaled; NaN is blank; `date` is the order in which a date is written
 * @property {string} model which one is drawn first
 * @property {number} left rows that are not in the page
 */

/** What can be drawn, as the engine and as people call it. @type {[string, string][]} */
const MODELS = [
  ["shared", "GDA (shared covariance)"], ["per-class", "GDA (covariance per class)"],
  ["shared-diagonal", "naive Bayes (shared variances)"], ["naive-bayes", "naive Bayes (normal)"], ["logistic", "logistic regression"],
];
/** Of the plane that points cover. */
const COVERED = 0.94;

/** @param {string} text @returns {Uint8Array} */
function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** @param {Content["columns"][number]} column @returns {number[]} */
function cellsOf({ centre, scale, cells }) {
  const bytes = bytesOf(cells);
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 4 }, (_, i) => centre + scale * view.getFloat32(4 * i, true));
}

/** @param {number[]} sorted @param {number} share @returns {number} */
function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
}

/**
 * Return which rows have both cells and are not so far out that the rest is a blot.
 * @param {number[][]} columns
 * @returns {number[]}
 */
export function nearRows(columns) {
  const there = columns[0].flatMap((_, i) => (columns.every((cells) => Number.isFinite(cells[i])) ? [i] : []));
  const spans = columns.map((cells) => {
    const sorted = there.map((i) => cells[i]).sort((a, b) => a - b);
    const [low, high] = [quantile(sorted, 0.05), quantile(sorted, 0.95)];
    return [2 * low - high, 2 * high - low];
  });
  const near = there.filter((i) => columns.every((cells, j) => cells[i] >= spans[j][0] && cells[i] <= spans[j][1]));
  return near.length > 0.9 * there.length ? near : there;
}

/** @param {number[]} values @returns {[number, number]} */
function span(values) {
  const low = values.reduce((least, v) => Math.min(least, v), Infinity);
  const high = values.reduce((most, v) => Math.max(most, v), -Infinity);
  const room = ((high - low || 1) * (1 - COVERED)) / (2 * COVERED);
  return [low - room, high + room];
}

/** @param {number} low @param {number} high @returns {number[]} round numbers between */
export function ticks(low, high) {
  const rough = (high - low) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5].find((m) => m * unit >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(10)));
}

/** @param {Content} content @param {string[]} palette */
export function startColumns(content, palette) {
  const section = document.getElementById("boundaries");
  if (section === null) return;
  const codes = [...bytesOf(content.codes)];
  const columns = content.columns.map(cellsOf);
  if (columns.some((cells) => cells.length !== codes.length)) throw new Error("columns differ in length");
  const colours = content.classes.map((_, c) => palette[c % palette.length]);
  const canvas = el("canvas", { tabindex: 0, role: "application", id: "any-plane",
    "aria-label": "Boundaries on two chosen columns. Arrow keys move the cross, and the answer there is read out." });
  const plane = new Plane(canvas, colours);
  const [left, below] = [el("div", { class: "left-ticks", "aria-hidden": "true" }), el("div", { class: "below-ticks", "aria-hidden": "true" })];
  const answer = el("p", { id: "any-answer", role: "status" });
  const said = el("p", { class: "soft", id: "any-said" });
  const choose = (/** @type {string} */ id, /** @type {[string | number, string][]} */ options, /** @type {string | number} */ first) => {
    const select = el("select", { id, change: () => begin() }, ...options.map(([value, words]) => el("option", { value }, words)));
    select.value = String(first);
    return select;
  };
  /** @type {[string | number, string][]} */
  const names = content.columns.map(({ name }, j) => [j, named(name, 40).textContent ?? ""]);
  const [first, second] = [choose("any-x", names, 0), choose("any-y", names, 1)];
  const model = choose("any-model", MODELS, content.model);
  let state = emptyState();
  /** @type {import("../play/fitting.js").Fitted | string} */
  let found = "";
  /** @type {[number, number][]} */
  let spans = [[0, 1], [0, 1]];

  function begin() {
    const places = [Number(first.value), Number(second.value)];
    const own = places.map((j) => columns[j]);
    const rows = nearRows(own);
    spans = own.map((cells) => span(rows.map((i) => cells[i])));
    const toPlane = (/** @type {number} */ j, /** @type {number} */ value) =>
      (2 * (value - spans[j][0]) / (spans[j][1] - spans[j][0]) - 1) * (j === 0 ? WIDE : HIGH);
    /** @type {Point[]} */
    const points = rows.map((i) => ({ x: toPlane(0, own[0][i]), y: toPlane(1, own[1][i]), c: codes[i] }));
    state = { ...emptyState(), points, classes: content.classes.length, model: model.value };
    found = places[0] === places[1] ? "Choose two different columns."
      : new Set(points.map(({ c }) => c)).size < 2 ? "Rows with both cells are all of one class." : fitted(state, model.value);
    const words = places.map((j) => content.columns[j].name);
    if (typeof found === "string") said.textContent = found;
    else {
      const { right } = judged(found, points);
      const notes = found.notes.length > 0 ? ` ${model.value === "logistic" ? "A plane separates the classes, so the search was stopped." : "A covariance was widened, because there are too few rows."}` : "";
      said.replaceChildren("On ", named(words[0]), " (across) and ", named(words[1]), " (up) alone, fitted here to the ",
        `${points.length.toLocaleString("en")} rows that are drawn; ${right.toLocaleString("en")} of them are on their own side.${notes}`);
    }
    Object.assign(canvas.dataset, { rows: String(points.length) });
    left.parentElement?.classList.toggle("dates", content.columns[places[1]].date !== undefined);
    left.replaceChildren(...marks(places[1], spans[1]).map(([value, words]) => tick(words, "top", 50 - 50 * toPlane(1, value) / HIGH)));
    below.replaceChildren(...marks(places[0], spans[0]).map(([value, words]) => tick(words, "left", 50 + 50 * toPlane(0, value) / WIDE)));
    draw();
  }

  /** Values along a side, and their words. Dates are long: no more than three. @param {number} place @param {[number, number]} span @returns {[number, string][]} */
  function marks(place, span) {
    const values = ticks(...span);
    const { date, timed = false } = content.columns[place];
    if (date !== undefined) return values.filter((_, i) => i % Math.ceil(values.length / 3) === 0).map((value) => [value, writtenDate(value, date, timed)]);
    return values.map((value) => [value, (Math.abs(value) >= 1e5 ? value.toExponential(1) : String(value)).replace("-", "−")]);
  }

  /** @param {string} words @param {"top" | "left"} side @param {number} at */
  function tick(words, side, at) {
    const made = el("span", {}, words);
    made.style[side] = `${at}%`;
    return made;
  }

  /** @param {number} place @param {number} value @returns {string} */
  function told(place, value) {
    const { date, timed = false } = content.columns[place];
    return date === undefined ? short(value) : writtenDate(value, date, timed);
  }

  function draw() {
    const sheet = getComputedStyle(document.documentElement);
    const paper = channels(sheet.getPropertyValue("--paper").trim());
    plane.draw(state, found, { paper, ink: sheet.getPropertyValue("--ink").trim() });
    const [x, y] = state.probe;
    const place = [x / WIDE, y / HIGH].map((share, j) => spans[j][0] + (0.5 + 0.5 * share) * (spans[j][1] - spans[j][0]));
    const shares = typeof found === "string" ? null : asked(found, state.probe, [false, false])?.shares ?? null;
    const [across, up] = [Number(first.value), Number(second.value)];
    const at = ["At ", named(content.columns[across].name, 30), ` ${told(across, place[0])}, `,
      named(content.columns[up].name, 30), ` ${told(up, place[1])}`];
    if (shares === null) answer.replaceChildren(...at, ".");
    else {
      const best = argmax(shares);
      answer.replaceChildren(...at, ": ", el("strong", {}, named(content.classes[best], 30)), `, ${percent(shares[best])}.`);
      Object.assign(answer.dataset, { shares: JSON.stringify(shares), place: JSON.stringify(place) });
    }
  }

  const seek = (/** @type {PointerEvent} */ event) => {
    const [x, y] = plane.place(event);
    state.probe = [Math.max(-WIDE, Math.min(WIDE, x)), Math.max(-HIGH, Math.min(HIGH, y))];
    draw();
  };
  canvas.addEventListener("pointermove", seek);
  canvas.addEventListener("pointerdown", seek);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const size = event.shiftKey ? 1 : 0.1;
    const [x, y] = state.probe;
    state.probe = [Math.max(-WIDE, Math.min(WIDE, x + size * step[0])), Math.max(-HIGH, Math.min(HIGH, y + size * step[1]))];
    draw();
  });
  const key = el("p", { class: "legend" }, ...content.classes.map((label, c) => {
    const chip = el("i", {});
    chip.style.background = colours[c];
    return el("span", {}, chip, named(label, 24));
  }));
  const few = content.left > 0 ? el("p", { class: "soft" }, `${(codes.length).toLocaleString("en")} rows are in the page, drawn at random; ${content.left.toLocaleString("en")} are not.`) : null;
  section.append(el("div", { class: "living", id: "any-columns" },
    el("h3", {}, "Any two columns"),
    el("div", { class: "controls" }, el("label", { for: "any-x" }, "Across ", first), el("label", { for: "any-y" }, "Up ", second),
      el("label", { for: "any-model" }, "Model ", model)),
    el("div", { class: "with-ticks" }, left, canvas, below), answer, said, key, few));
  begin();
  window.addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
