/**
 * Tables that are sorted by their heads: up, down, and as they were.
 * @module
 */

import { el } from "../pages/dom.js";

/** Rows from which there is something to sort. */
const FEWEST = 3;
const NUMBER = /[-−+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+−]?\d+)?/i;

/**
 * Return the number that a cell begins with, or null: “1,024”, “0.059 ± 0.01”, “< 0.001”, “12 %”.
 * @param {string} text
 * @returns {number | null}
 */
export function leadingNumber(text) {
  const bare = text.trim().replace(/^(?:[<>≤≥≈~]|from)\s*/u, "");
  const found = NUMBER.exec(bare);
  if (found === null || found.index !== 0) return null;
  return Number(found[0].replace(/,/g, "").replace(/−/g, "-"));
}

/**
 * Return the order of cells: numbers by size, words by the alphabet, and what is empty last.
 * @param {string[]} texts
 * @param {number} direction 1 for the smallest first, -1 for the largest
 * @returns {number[]}
 */
export function orderOf(texts, direction) {
  const said = texts.map((text) => text.trim());
  const empty = said.map((text) => text === "" || text === "–" || text === "nan");
  const numbers = said.map((text) => leadingNumber(text));
  const numeric = numbers.every((value, i) => value !== null || empty[i]);
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  return said.map((_, i) => i).sort((a, b) => {
    if (empty[a] || empty[b]) return Number(empty[a]) - Number(empty[b]) || a - b;
    const gap = numeric ? Number(numbers[a]) - Number(numbers[b]) : compare(said[a], said[b]);
    return direction * gap || a - b;
  });
}

/** @param {HTMLTableElement} table @param {number} column @param {number} direction 0: as it was */
export function sortTable(table, column, direction) {
  const body = table.tBodies[0];
  const rows = /** @type {HTMLTableRowElement[]} */ ([...body.rows]);
  rows.forEach((row, i) => (row.dataset.place ??= String(i)));
  rows.sort((a, b) => Number(a.dataset.place) - Number(b.dataset.place));
  const order = direction === 0 ? rows.map((_, i) => i)
    : orderOf(rows.map((row) => row.cells[column]?.textContent ?? ""), direction);
  body.append(...order.map((i) => rows[i]));
  [...(table.tHead?.rows[0].cells ?? [])].forEach((head, j) => {
    if (j !== column || direction === 0) head.removeAttribute("aria-sort");
    else head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  });
}

/** @param {HTMLTableElement} table */
function startTable(table) {
  const heads = [...(table.tHead?.rows[0].cells ?? [])];
  /** @type {[number, number]} */
  let state = [-1, 0];
  const sort = (/** @type {number} */ column, /** @type {number} */ direction) => {
    state = [column, direction];
    sortTable(table, column, direction);
  };
  const sortable = heads.map((head, j) => {
    const texts = [...table.tBodies[0].rows].map((row) => (row.cells[j]?.textContent ?? "").trim());
    return (head.textContent ?? "").trim() !== "" && texts.some((text) => text !== "");
  });
  heads.forEach((head, j) => {
    if (!sortable[j]) return;
    // Figures are of interest from the top, names from the front.
    const first = head.classList.contains("figure") ? -1 : 1;
    const button = el("button", { type: "button", class: "sort", title: "Sort by this column", click: () => {
      const [column, direction] = state;
      sort(j, column !== j ? first : direction === first ? -first : 0);
    } });
    button.append(...head.childNodes);
    head.append(button);
  });
  if (table.matches(".stacked, .cards")) {
    // On a phone these have no heads.
    const select = el("select", { change: (event) => {
      const [column, direction] = event.target.value.split(",").map(Number);
      sort(column, direction);
    } }, el("option", { value: "0,0" }, "original order"), ...heads.flatMap((head, j) => (sortable[j]
      ? [el("option", { value: `${j},${head.classList.contains("figure") ? -1 : 1}` }, head.textContent ?? "")] : [])));
    table.before(el("label", { class: "sort-by living" }, "Sort by ", select));
  }
}

/**
 * Let keys reach a place while it is narrower than what it holds.
 * @param {HTMLElement} place
 */
function reach(place) {
  const wider = place.scrollWidth > place.clientWidth;
  if (wider === place.hasAttribute("tabindex")) return;
  const section = place.closest("section");
  const heading = section?.querySelector("h2")?.textContent ?? "";
  const which = [...(section ?? document).querySelectorAll(".wide")].indexOf(place) + 1;
  for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", `${heading}: table ${which}`]]) {
    if (wider) place.setAttribute(name, value);
    else place.removeAttribute(name);
  }
}

/** Let keys reach what is wider than its place: windows change, and so do figures. */
export function startScrolling() {
  const seen = new ResizeObserver(() => places.forEach(reach));
  const places = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".wide")]);
  for (const place of places) {
    seen.observe(place);
    if (place.firstElementChild !== null) seen.observe(place.firstElementChild);
  }
  places.forEach(reach);
}

/** Let the tables of the page be sorted. */
export function startTables() {
  for (const table of document.querySelectorAll("table")) {
    if (table.matches(".confusion, .correlations") || table.tHead === null || table.tBodies.length !== 1) continue;
    if (table.tHead.rows.length !== 1 || table.tBodies[0].rows.length < FEWEST) continue;
    startTable(table);
  }
}
