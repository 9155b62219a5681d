/**
 * Rows as numbers: blanks filled where a model cannot do without, categories as zeros and ones.
 * @module
 */

/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("../matrix.js").Vector} Vector */

/**
 * @typedef {object} Filled
 * @property {(number | null)[]} means of columns that are no categories
 * @property {boolean[]} blank which columns get one beside them that says where they were blank
 */

/**
 * @typedef {object} Design
 * @property {{ kind: string, levels: Cell[] }[]} columns
 * @property {number[] | null} kept the coded columns that are used
 * @property {Vector | null} usual what stands for a level never seen
 */

/**
 * Return cells without blank numbers, and with those at the end that say where they were.
 * @param {Cell[]} row
 * @param {Filled | null} filled
 * @returns {Cell[]}
 */
export function filledRow(row, filled) {
  if (filled === null) return row;
  /** @type {Cell[]} */
  const marks = [];
  const cells = row.map((cell, j) => {
    const mean = filled.means[j];
    if (mean === null) return cell;
    if (filled.blank[j]) marks.push(cell === null ? 1 : 0);
    return cell === null ? mean : Number(cell);
  });
  return [...cells, ...marks];
}

/**
 * Return the column of the user that every coded column belongs to; columns that say where others
 * were blank belong to these.
 * @param {Design} design
 * @param {Filled | null} filled
 * @returns {number[]}
 */
export function owners(design, filled) {
  const width = filled === null ? design.columns.length : filled.means.length;
  const marked = filled === null ? [] : filled.blank.flatMap((blank, j) => (blank ? [j] : []));
  const every = design.columns.flatMap((column, j) => {
    const owner = j < width ? j : marked[j - width];
    return new Array(column.kind === "category" ? column.levels.length : 1).fill(owner);
  });
  return design.kept === null ? every : design.kept.map((j) => every[j]);
}

/**
 * Return a row as the numbers that a model of numbers takes; NaN where a number is blank.
 * @param {Cell[]} row
 * @param {Design} design
 * @param {Filled | null} [filled]
 * @returns {Vector}
 */
export function coded(row, design, filled = null) {
  const cells = filledRow(row, filled);
  /** @type {Vector} */
  const every = [];
  /** @type {boolean[]} */
  const unseen = [];
  design.columns.forEach((column, j) => {
    const cell = cells[j];
    if (column.kind !== "category") {
      every.push(cell === null ? NaN : Number(cell));
      unseen.push(false);
      return;
    }
    const text = cell === null ? null : String(cell);
    const place = column.levels.findIndex((v) => (v === null ? null : String(v)) === text);
    column.levels.forEach((_, i) => {
      every.push(i === place ? 1 : 0);
      unseen.push(place < 0);
    });
  });
  const kept = design.kept ?? every.map((_, i) => i);
  const { usual } = design;
  return kept.map((i, at) => (usual !== null && unseen[i] ? usual[at] : every[i]));
}
