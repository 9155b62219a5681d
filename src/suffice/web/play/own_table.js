/**
 * A table of one's own: two columns become the plane, a third one the classes.
 * @module
 */

import { BadTable, parseTable } from "../engine/tables/csv.js";
import { byId, el, visible } from "../pages/dom.js";
import { HIGH, WIDE } from "./worlds.js";

/** @typedef {import("./worlds.js").Point} Point */

const MOST_BYTES = 30e6;
const MOST_POINTS = 2000;
const MOST_CLASSES = 4;
/** Parts of the plane that points cover. */
const COVERED = 0.9;

/**
 * Return the columns of a table that hold numbers.
 * @param {{ names: string[], rows: string[][] }} table
 * @returns {number[]}
 */
export function numericColumns(table) {
  return table.names.flatMap((_, j) => {
    const cells = table.rows.map((row) => row[j].trim()).filter((cell) => cell !== "");
    const numbers = cells.filter((cell) => Number.isFinite(Number(cell))).length;
    return numbers > 1 && numbers >= 0.8 * cells.length ? [j] : [];
  });
}

/**
 * Return points of two columns, moved and scaled to fit the plane; and what was done, in words.
 * @param {{ names: string[], rows: string[][] }} table
 * @param {number} x
 * @param {number} y
 * @param {number} target
 * @returns {{ points: Point[], labels: string[], told: string }}
 */
export function pointsOf(table, x, y, target) {
  const rows = table.rows.filter((row) =>
    [x, y].every((j) => row[j].trim() !== "" && Number.isFinite(Number(row[j]))) && row[target].trim() !== "");
  const counts = new Map();
  for (const row of rows) counts.set(row[target].trim(), (counts.get(row[target].trim()) ?? 0) + 1);
  const labels = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_CLASSES).map(([label]) => label).sort();
  if (labels.length < 2) {
    throw new BadTable(`${table.names[target]} has ${labels.length === 1 ? "only one class" : "no classes"} among rows with both numbers: choose another target.`);
  }
  let kept = rows.filter((row) => labels.includes(row[target].trim()));
  const step = Math.max(1, kept.length / MOST_POINTS);
  kept = Array.from({ length: Math.min(kept.length, MOST_POINTS) }, (_, i) => kept[Math.floor(i * step)]);
  /** @param {number} j @param {number} half @returns {(cell: string) => number} */
  const scale = (j, half) => {
    const values = kept.map((row) => Number(row[j]));
    const low = values.reduce((least, v) => Math.min(least, v), Infinity);
    const high = values.reduce((most, v) => Math.max(most, v), -Infinity);
    const reach = high > low ? high - low : 1;
    return (cell) => (2 * (Number(cell) - low) / reach - 1) * COVERED * half;
  };
  const [toX, toY] = [scale(x, WIDE), scale(y, HIGH)];
  const points = kept.map((row) => ({ x: toX(row[x]), y: toY(row[y]), c: labels.indexOf(row[target].trim()) }));
  const parts = [`${points.length} rows; x₁ is ${table.names[x]}, x₂ is ${table.names[y]}, both scaled to the plane`];
  parts.push(labels.map((label, c) => `${"ABCD"[c]} is ${label}`).join(", "));
  const left = table.rows.length - points.length;
  if (left > 0) parts.push(`${left} rows are not shown (blank, of other classes, or more than ${MOST_POINTS})`);
  return { points, labels, told: `${parts.join("; ")}.` };
}

/**
 * Let the page take a table.
 * @param {(points: Point[], classes: number) => void} use
 */
export function startOwnTable(use) {
  const [zone, said, choose] = [byId("zone"), byId("said"), byId("choose")];
  const [colX, colY, colT] = ["col-x", "col-y", "col-t"].map((id) => /** @type {HTMLSelectElement} */ (byId(id)));
  /** @type {{ names: string[], rows: string[][] } | null} */
  let table = null;

  /** @param {File | undefined} file */
  async function take(file) {
    if (file === undefined) return;
    choose.hidden = true;
    try {
      if (file.size > MOST_BYTES) throw new BadTable(`${file.name} has ${(file.size / 1e6).toFixed(0)} MB, and the playground reads up to ${MOST_BYTES / 1e6} MB.`);
      table = parseTable(await file.text());
      const numeric = numericColumns(table);
      if (numeric.length < 2) throw new BadTable(`${file.name} has ${numeric.length === 0 ? "no column" : "only one column"} of numbers, and two are needed. Is the separator a comma, semicolon or tab?`);
      const names = table.names;
      /** @param {HTMLSelectElement} select @param {number[]} places @param {number} first */
      const fill = (select, places, first) => {
        select.replaceChildren(...places.map((j) => el("option", { value: j }, visible(names[j]).slice(0, 60))));
        select.value = String(first);
      };
      fill(colX, numeric, numeric[0]);
      fill(colY, numeric, numeric[1]);
      const every = names.map((_, j) => j);
      const words = every.filter((j) => !numeric.includes(j));
      fill(colT, every, words[words.length - 1] ?? every[every.length - 1]);
      choose.hidden = false;
      said.textContent = `${file.name}: ${table.rows.length} rows, ${names.length} columns.`;
    } catch (error) {
      said.textContent = error instanceof BadTable ? error.message : `${file.name} cannot be read: ${/** @type {Error} */ (error).message}`;
    }
  }

  byId("use").addEventListener("click", () => {
    if (table === null) return;
    try {
      const found = pointsOf(table, Number(colX.value), Number(colY.value), Number(colT.value));
      use(found.points, Math.max(2, found.labels.length));
      said.textContent = found.told;
    } catch (error) {
      said.textContent = /** @type {Error} */ (error).message;
    }
  });
  byId("file").addEventListener("change", (event) => take(/** @type {HTMLInputElement} */ (event.target).files?.[0]));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer?.files[0]);
  });
}
