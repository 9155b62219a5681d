/**
 * Dates and times as the pages read them: the year first, or day, month and year in the order of
 * the column; and the parts of a date that are columns of their own.
 * @module
 */

/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Column} Column */

const TIME = "(?:[T ,]\\s*(\\d{1,2})[:.h](\\d{2})(?:[:.](\\d{2})(?:[.,](\\d{1,9}))?)?\\s*([ap]\\.?m\\.?)?\\s*(z|[+-]\\d{2}:?\\d{2})?)?";
const YEAR_FIRST = new RegExp(`^(\\d{4})\\s?[./-]\\s?(\\d{1,2})\\s?[./-]\\s?(\\d{1,2})${TIME}$`, "i");
const YEAR_LAST = new RegExp(`^(\\d{1,2})\\s?([./-])\\s?(\\d{1,2})\\s?\\2\\s?(\\d{4}|\\d{2})${TIME}$`, "i");
const CLOCK = /^(\d{1,4})[:.h](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?\s*([ap]\.?m\.?)?$/i;
const NAMES = {
  month: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
  weekday: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
  hour: Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, "0")}h`),
};

/** @param {(string | undefined)[]} parts hour, minute, second, fraction, half @returns {number | null} hours */
function hoursOf([hour, minute, second, fraction, half]) {
  let h = Number(hour ?? 0);
  const [m, s] = [Number(minute ?? 0), Number(second ?? 0)];
  if (m > 59 || s > 60) return null;
  if (half !== undefined) {
    if (h < 1 || h > 12) return null;
    h = (h % 12) + (half.toLowerCase().startsWith("p") ? 12 : 0);
  }
  return h + m / 60 + (s + Number(`0.${fraction ?? 0}`)) / 3600;
}

/** @param {number} year @param {number} month @param {number} day @returns {number | null} days since 1970 */
function dayOf(year, month, day) {
  const made = new Date(0);
  made.setUTCFullYear(year, month - 1, day);
  const same = made.getUTCFullYear() === year && made.getUTCMonth() === month - 1 && made.getUTCDate() === day;
  return same && year >= 1 ? Math.round(made.getTime() / 86400000) : null;
}

/**
 * Return the number that a date or a time is: days since 1970, or of a clock hours. Null where it
 * cannot be read.
 * @param {string} text
 * @param {string} order "dmy", "mdy", "ymd", "clock" or "number"
 * @returns {number | null}
 */
export function readDate(text, order) {
  const bare = text.trim();
  if (order === "clock") {
    const found = CLOCK.exec(bare);
    return found === null ? null : hoursOf(found.slice(1));
  }
  let day = null;
  let time = YEAR_FIRST.exec(bare);
  let at = 4;
  if (time !== null) day = dayOf(Number(time[1]), Number(time[2]), Number(time[3]));
  else {
    time = YEAR_LAST.exec(bare);
    if (time === null || order === "number") return null;
    at = 5;
    const [one, two, last] = [Number(time[1]), Number(time[3]), Number(time[4])];
    const century = (/** @type {number} */ short) => short + (short >= 69 ? 1900 : 2000);
    if (order === "ymd") {
      if (time[1].length !== 2 || time[4].length !== 2) return null;
      day = dayOf(century(one), two, last);
    } else {
      const year = time[4].length === 4 ? last : century(last);
      day = order === "dmy" ? dayOf(year, two, one) : dayOf(year, one, two);
    }
  }
  if (day === null || time[at] === undefined) return day;
  const hours = hoursOf(time.slice(at, at + 5));
  if (hours === null || hours > 24) return null;
  const zone = time[at + 5];
  let offset = 0;
  if (zone !== undefined && zone.toLowerCase() !== "z") {
    const digits = zone.slice(1).replace(":", "");
    offset = (zone[0] === "-" ? -1 : 1) * (60 * Number(digits.slice(0, 2)) + Number(digits.slice(2)));
  }
  return day + (hours / 24 - offset / 1440);
}

/**
 * Write a date or a time as it is read again.
 * @param {number} value
 * @param {string} order
 * @param {boolean} timed
 * @returns {string}
 */
export function writtenDate(value, order, timed) {
  if (order === "clock") {
    const minutes = Math.round(value * 60);
    return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  }
  const text = new Date(Math.round(value * 86400) * 1000).toISOString();
  return timed ? text.slice(0, 16).replace("T", " ") : text.slice(0, 10);
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
