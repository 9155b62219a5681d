/**
 * Many rows: pasted or dropped, answered at once, saved as CSV.
 * @module
 */

import { UnreadableCell, readCell } from "../engine/tables/cells.js";
import { withParts } from "../engine/tables/dates.js";
import { BadTable, parseTable, writeCsv } from "../engine/tables/csv.js";
import { byId, el, named, percent, save, visible } from "./dom.js";

/** @typedef {import("../engine/models.js").Answers} Answers */
/** @typedef {import("../engine/tables/cells.js").Column} Column */

/** Bytes of a file that a page reads: beyond, `suffice predict` is the right tool. */
const MOST_BYTES = 30e6;
const MOST_SHOWN = 100;
const MOST_COLUMNS = 8;
/** Milliseconds of work after which the page may breathe. */
const BREATH = 30;

/**
 * Answer about the rows of a table.
 * @param {{ names: string[], rows: string[][] }} table
 * @param {Answers} model
 * @param {any} content
 * @param {(done: number) => Promise<void>} breathe
 * @returns {Promise<{ header: string[], rows: (string | number | null)[][], problems: number,
 *   agreed: number, judged: number }>}
 */
export async function answeredTable(table, model, content, breathe) {
  /** @type {Column[]} */
  const columns = content.columns;
  const unnamed = columns.every((column, j) => column.name === `x${j}`);
  let places = columns.map((column) => table.names.indexOf(column.name));
  if (unnamed && places.some((place) => place < 0)) {
    const others = table.names.flatMap((name, j) => (name === content.target ? [] : [j]));
    if (others.length === columns.length) places = others;
  }
  const lacking = columns.filter((column, j) => places[j] < 0 && column.made === undefined).map((column) => column.name);
  if (lacking.length > 0) {
    const few = lacking.slice(0, 5).join(", ");
    throw new BadTable(
      `The table has no column ${few}${lacking.length > 5 ? `, and ${lacking.length - 5} more` : ""}. ` +
        `It has ${table.names.slice(0, 8).join(", ")}${table.names.length > 8 ? ", …" : ""}.`,
    );
  }
  const target = content.target === null ? -1 : table.names.indexOf(content.target);
  const header = [...table.names, "prediction", ...model.labels.map((label) => `p(${label})`)];
  let [problems, agreed, judged] = [0, 0, 0];
  /** @type {(string | number | null)[][]} */
  const rows = [];
  let start = performance.now();
  for (const [i, cells] of table.rows.entries()) {
    try {
      const read = columns.map((column, j) =>
        column.made === undefined ? cellAt(cells[places[j]], column, content.reading) : null);
      const row = withParts(read, columns);
      const shares = model.posterior(row).map(Math.exp);
      const chosen = model.labels[shares.indexOf(Math.max(...shares))];
      if (target >= 0 && cells[target].trim() !== "") {
        judged += 1;
        agreed += cells[target].trim() === chosen ? 1 : 0;
      }
      rows.push([...cells, chosen, ...shares]);
    } catch (error) {
      problems += 1;
      const said = /** @type {Error} */ (error).message;
      rows.push([...cells, null, ...model.labels.map(() => null), said]);
    }
    if (performance.now() - start > BREATH) {
      await breathe(i + 1);
      start = performance.now();
    }
  }
  if (problems > 0) header.push("problem");
  return { header, rows, problems, agreed, judged };
}

/** @param {string} text @param {Column} column @param {any} reading */
function cellAt(text, column, reading) {
  try {
    return readCell(text, column, reading);
  } catch (error) {
    throw new UnreadableCell(`${column.name}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Let the page take tables.
 * @param {Answers} model
 * @param {any} content
 * @param {string} name of the file that is saved
 */
export function startTable(model, content, name) {
  const [zone, input, area] = [byId("zone"), byId("file"), byId("pasted")];
  const [said, result] = [byId("said"), byId("result")];
  let run = 0;

  /** @param {string} text @param {string} from */
  async function show(text, from) {
    const own = ++run;
    result.replaceChildren();
    try {
      const table = parseTable(text);
      if (table.rows.length === 0) throw new BadTable(`${from} has a header, and no rows.`);
      const found = await answeredTable(table, model, content, async (done) => {
        said.textContent = `${done} of ${table.rows.length} rows …`;
        await new Promise((resume) => setTimeout(resume));
        if (own !== run) throw new BadTable("Another table was opened meanwhile.");
      });
      said.textContent = summary(found, from);
      result.append(preview(found, table.names.length, model.labels.length));
      const csv = writeCsv([found.header, ...found.rows]);
      byId("save").onclick = () => save(`${name}-answers.csv`, csv, "text/csv");
      byId("save").hidden = false;
    } catch (error) {
      if (own !== run) return;
      said.textContent = error instanceof BadTable ? error.message : `This table cannot be read: ${
        /** @type {Error} */ (error).message}`;
      byId("save").hidden = true;
    }
  }

  /** @param {File | undefined} file */
  function take(file) {
    if (file === undefined) return;
    if (file.size > MOST_BYTES) {
      byId("save").hidden = true;
      result.replaceChildren();
      said.textContent = `${file.name} has ${(file.size / 1e6).toFixed(0)} MB, and this page reads up to ${
        MOST_BYTES / 1e6} MB. “suffice predict” reads tables of any size.`;
      return;
    }
    file.text().then((text) => show(text, file.name));
  }

  input.addEventListener("change", () => take(/** @type {HTMLInputElement} */ (input).files?.[0]));
  byId("answer").addEventListener("click", () => show(/** @type {HTMLTextAreaElement} */ (area).value, "The table"));
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

/** @param {Awaited<ReturnType<typeof answeredTable>>} found @param {string} from @returns {string} */
function summary(found, from) {
  const parts = [`${from}: ${found.rows.length.toLocaleString("en")} rows are answered.`];
  if (found.judged > 0) {
    parts.push(`${found.agreed} of ${found.judged} agree with what the table says (${percent(found.agreed / found.judged)}).`);
  }
  if (found.problems > 0) parts.push(`${found.problems} have no answer; the last column says why.`);
  if (found.rows.length > MOST_SHOWN) parts.push(`The first ${MOST_SHOWN} are shown; the saved file has all.`);
  return parts.join(" ");
}

/**
 * @param {Awaited<ReturnType<typeof answeredTable>>} found
 * @param {number} width columns of the table
 * @param {number} classes
 * @returns {HTMLElement}
 */
function preview(found, width, classes) {
  const answers = Array.from({ length: Math.min(classes, 6) + 1 }, (_, j) => width + j);
  const last = found.problems > 0 ? [width + 1 + classes] : [];
  const shown = [...answers, ...last, ...Array.from({ length: Math.min(width, MOST_COLUMNS) }, (_, j) => j)];
  /** @param {string | number | null | undefined} cell @param {number} j */
  const written = (cell, j) => {
    if (cell === null || cell === undefined) return "";
    return typeof cell === "number" && j > width ? cell.toFixed(4) : visible(String(cell)).slice(0, 60);
  };
  return el("table", {},
    el("thead", {}, el("tr", {}, ...shown.map((j) => el("th", { scope: "col" }, named(found.header[j], 30))))),
    el("tbody", {}, ...found.rows.slice(0, MOST_SHOWN).map((row) =>
      el("tr", {}, ...shown.map((j) => el("td", j === width ? { class: "chosen" } : {}, written(row[j], j)))))));
}
