/**
 * Dates and times as a column has them: numbers, texts that are read again, and the parts of a date
 * that are columns of their own.
 * @module
 */

import { dateIn, serialDate } from "./written_dates.js";

/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Column} Column */

const NAMES = {
  month: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
  weekday: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
  hour: Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, "0")}h`),
};

/**
 * Return the number that a date or a time is: days since 1970, or of a clock hours. Null where it
 * cannot be read.
 * @param {string} text
 * @param {string} order "dmy", "mdy", "ymd", "clock" or "number"
 * @param {readonly string[]} [months] names of months, a language each
 * @param {(text: string) => number | null} [number] what number a text is
 * @returns {number | null}
 */
export function readDate(text, order, months = [], number = () => null) {
  const found = dateIn(text, months);
  if (order === "number") {
    // What nobody can read in two ways.
    if (found !== null) return found.clock || found.days.some((day) => day !== found.days[0]) ? null : found.days[0];
    const serial = number(text);
    return serial === null ? null : serialDate(serial);
  }
  if (found === null || found.clock !== (order === "clock")) return null;
  return found.clock ? found.days[0] : found.days[["dmy", "mdy", "ymd"].indexOf(order)] ?? null;
}

/**
 * Fill in the cells that are parts of dates.
 * @param {Cell[]} row
 * @param {Column[]} columns
 * @returns {Cell[]}
 */
export function withParts(row, columns) {
  return row.map((cell, j) => {
    const made = columns[j].made;
    if (made === undefined) return cell;
    const days = row[made.of];
    if (days === null) return null;
    const seconds = Math.round(Number(days) * (made.clock ? 3600 : 86400));
    if (made.part === "hour") return NAMES.hour[((Math.floor(seconds / 3600) % 24) + 24) % 24];
    const day = Math.floor(seconds / 86400);
    if (made.part === "weekday") return NAMES.weekday[(((day + 3) % 7) + 7) % 7];
    return NAMES.month[new Date(day * 86400000).getUTCMonth()];
  });
}
