/**
 * Tables as text: which separator, which rows; and cells written so that no spreadsheet runs them.
 * @module
 */

/** What is said of a text that is no table. */
export class BadTable extends Error {}

/**
 * Return the separator that parts the first lines into the most columns, all alike.
 * @param {string} text
 * @returns {string}
 */
export function separatorOf(text) {
  let best = ",";
  let most = 0;
  for (const mark of ["\t", ",", ";", "|"]) {
    const rows = parseRows(text.slice(0, 20000), mark).slice(0, 20);
    const counts = rows.map((row) => row.length);
    const alike = counts.slice(0, Math.max(1, counts.length - 1)).every((n) => n === counts[0]);
    const score = (counts[0] ?? 1) - 1 + (alike ? 0.5 : -0.5);
    if ((counts[0] ?? 1) > 1 && score > most) [best, most] = [mark, score];
  }
  return best;
}

/**
 * Return the rows of a table.
 * @param {string} text
 * @param {string} [separator]
 * @returns {string[][]}
 */
export function parseRows(text, separator = separatorOf(text)) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      at += 1;
      for (;;) {
        const end = text.indexOf('"', at);
        if (end < 0) {
          cell += text.slice(at);
          at = text.length;
          break;
        }
        cell += text.slice(at, end);
        at = end + 1;
        if (text[at] !== '"') break;
        cell += '"';
        at += 1;
      }
      while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") {
        cell += text[at++];
      }
    } else {
      const start = at;
      while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") at++;
      cell = text.slice(start, at);
    }
    row.push(cell);
    if (text[at] === separator) {
      at += 1;
      if (at < text.length) continue;
      row.push("");
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

/**
 * Return a table as its header and rows of as many cells.
 * @param {string} text
 * @returns {{ names: string[], rows: string[][] }}
 */
export function parseTable(text) {
  const [names, ...rows] = parseRows(text);
  if (names === undefined) throw new BadTable("There is nothing in this table.");
  const odd = rows.findIndex((row) => row.length !== names.length);
  if (odd >= 0) {
    throw new BadTable(
      `Row ${odd + 1} has ${rows[odd].length} cells, the header has ${names.length}. ` +
        "Is the separator the same everywhere?",
    );
  }
  return { names: names.map((name) => name.trim()), rows };
}

/**
 * Return rows as CSV; a cell that a spreadsheet would take for a formula begins with an apostrophe.
 * @param {(string | number | null)[][]} rows
 * @returns {string}
 */
export function writeCsv(rows) {
  /** @param {string | number | null} cell @returns {string} */
  const written = (cell) => {
    if (cell === null) return "";
    if (typeof cell === "number") return String(cell);
    const inert = /^[=+\-@\t\r]/.test(cell) && !Number.isFinite(Number(cell)) ? `'${cell}` : cell;
    return /[",;\n\r]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
  };
  return rows.map((row) => row.map(written).join(",")).join("\r\n") + "\r\n";
}
