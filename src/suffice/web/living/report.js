/**
 * The report comes alive: tables are sorted, pictures tell values, thresholds and columns are chosen.
 * Without this script the page is whole; whatever fails here leaves it so.
 * @module
 */

import { byId, el } from "../pages/dom.js";
import { startColumns } from "./any_columns.js";
import { startReadouts } from "./readout.js";
import { startScrolling, startTables } from "./sorting.js";
import { startThreshold } from "./threshold.js";

/** @param {string} what @param {() => void} work */
function attempt(what, work) {
  try {
    work();
  } catch (error) {
    document.querySelector("main")?.prepend(el("p", { class: "care living", role: "alert" },
      `This part of the page does not respond, because its data cannot be read: ${what}. The rest of the page is unaffected.`));
  }
}

/** @param {string} id @returns {any} */
function block(id) {
  return JSON.parse(byId(id).textContent ?? "null");
}

attempt("sorting of tables", () => startTables());
attempt("values of pictures", () => startReadouts(block("pictures")));
if (document.getElementById("thresholds") !== null) attempt("the threshold", () => startThreshold(block("thresholds")));
if (document.getElementById("points") !== null) {
  attempt("the choice of columns", () => startColumns(block("points"), block("palette").colours));
}
attempt("tables that are wider than the screen", () => startScrolling());
