/**
 * Dates and times as people write them: numbers in three orders, names of months, zones. The same
 * rules as those of Python's `written_dates`; names of months come with the page.
 * @module
 */

import { plainDigits } from "./plain_digits.js";
import { usualDate } from "./usual_dates.js";

/** @typedef {[number | null, number | null, number | null]} Days by "dmy", "mdy" and "ymd" */
/** @typedef {{ days: Days, clock: boolean }} WrittenDate */

const PIVOT = 69;
const LONGEST = 80;
const SHORTEST = 3;
/** Zones that mean one thing, in minutes. @type {Record<string, number>} */
const OFFSETS = {
  z: 0, utc: 0, gmt: 0, wet: 0, west: 60, cet: 60, mez: 60, cest: 120, mesz: 120, eet: 120, eest: 180, est: -300,
  edt: -240, cdt: -300, mst: -420, mdt: -360, pst: -480, pdt: -420, jst: 540,
};
/** @type {Record<string, number>} */
const WRITTEN_SHORT = { mrt: 3, mar: 3, mai: 5, maj: 5, jun: 6, jul: 7, sept: 9, ago: 8 };
const BETWEEN = new Set(["de", "del", "of", "the", "den", "der", "le", "st", "nd", "rd", "th", "er", "di", "do", "el", "dne", "d",
  "г", "року", "à", "ª", "º", "en", "la"]);
const TIME = new RegExp(
  "^(\\d{1,4})(?:[:.]|\\s?[hH]\\s?)(\\d{2})(?:[:.m](\\d{2})s?(?:[.,](\\d{1,9}))?)?" +
    "\\s*([aApP]\\.?\\s?[mM]\\.?)?\\s*(?:Uhr|uhr|h|hrs?)?" +
    "\\s*([zZ]|[+\\-\\u2212]\\d{2}:?(?:\\d{2})?|[A-Za-z]{3,4}(?:[+-]\\d{1,2}(?::?\\d\\d)?)?)?" +
    "\\s*(?:\\[[\\p{L}\\p{N}_/+\\-]{1,40}\\]|\\([\\p{L}\\p{N}_\\s/+\\-]{1,40}\\))?$", "u",
);
const SPLIT = /(?<=[\d.日일])[tT](?=\d\d?[:.]?\d\d)|,?\s+(?:at|um|à|a las|alle|om|klo|kl\.?|godz\.?|às|o|в|saat)?\s*/gu;
const TIMED = /^\d{1,2}(?:[:.]|\s?[hH]\s?)\d{2}(?!\.\d{2,4}(?:\s|$)|\d)/u;
const NUMERIC = /^(\d{1,2})\s?([./\-\u2010\u2011])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{2})\.?(?:\s?[гр]\.?)?$/u;
const YEAR_FIRST = /^(\d{4})\s?([./\-\u2010\u2011])\s?(\d{1,2})(?:\s?\2\s?(\d{1,2})\.?)?$/u;
const MONTH_YEAR = /^(\d{1,2})[/-](\d{4})$/u;
const EAST = /^(\d{4})[年년]\s?(\d{1,2})[月월]\s?(?:(\d{1,2})[日일])?$/u;
const WEEK = /^(\d{4})[- ]?[wW](\d{2})(?:-?([1-7]))?$/u;
const QUARTER = /^(?:(\d{4})[-/ ]?[qQ]([1-4])|[qQ]([1-4])[-/ ]?(\d{4}))$/u;
const COMPACT = /^(\d{4})(\d\d)(\d\d)$/u;
const COMPACT_TIME = /^(\d\d)(\d\d)(\d\d)?(\.\d{1,9})?([zZ]|[+-]\d\d:?(?:\d\d)?)?$/u;
const NAMED = /^[\p{L}\p{N}_\s.,\-/'’]+$/u;
const WORDS = /[\p{L}\p{Nl}\p{No}]+|\d+/gu;

/** @type {Map<readonly string[], Map<string, number>>} */
const known = new Map();

/** @param {readonly string[]} months the twelve names of a language in one line each @returns {Map<string, number>} */
function monthNumbers(months) {
  const held = known.get(months);
  if (held !== undefined) return held;
  /** @type {Map<string, number>} */
  const full = new Map();
  /** @type {Map<string, Set<number>>} */
  const begun = new Map();
  for (const names of months) {
    names.split(" ").forEach((name, i) => {
      full.set(name, i + 1);
      for (let end = SHORTEST; end < name.length; end++) {
        const start = name.slice(0, end);
        begun.set(start, (begun.get(start) ?? new Set()).add(i + 1));
      }
    });
  }
  const short = [...begun].flatMap(([text, of]) => (of.size === 1 ? [/** @type {[string, number]} */ ([text, [...of][0]])] : []));
  const found = new Map([...short, ...Object.entries(WRITTEN_SHORT), ...full]);
  known.set(months, found);
  return found;
}

/** @param {number} year @returns {number} */
const century = (year) => year + (year >= PIVOT ? 1900 : 2000);

/** @param {number} year @param {number} month @param {number} day @returns {number | null} days since 1970 */
function dayOf(year, month, day) {
  const made = new Date(0);
  made.setUTCFullYear(year, month - 1, day);
  const same = made.getUTCFullYear() === year && made.getUTCMonth() === month - 1 && made.getUTCDate() === day;
  return same && year >= 1 ? Math.round(made.getTime() / 86400000) : null;
}

/** @param {number} year @param {number} month @param {number} day @returns {Days | null} */
function same(year, month, day) {
  const found = dayOf(year, month, day);
  return found === null ? null : [found, found, found];
}

/** @param {string} zone @returns {number | null} minutes */
function offsetOf(zone) {
  const name = zone.replace(/[-+\d:]+$/u, "");
  const rest = zone.slice(name.length);
  const base = name === "" ? 0 : Object.hasOwn(OFFSETS, name) ? OFFSETS[name] : null;
  if (base === null || (rest !== "" && !["", "utc", "gmt"].includes(name))) return null;
  if (rest === "") return base;
  const digits = rest.slice(1).replace(":", "");
  const [hours, minutes] = digits.length <= 2 ? [Number(digits), 0] : [Number(digits.slice(0, -2)), Number(digits.slice(-2))];
  if (hours > 14 || minutes > 59) return null;
  return (rest[0] === "-" ? -1 : 1) * (60 * hours + minutes);
}

/** @typedef {{ hours: number, offset: number | null }} Time */

/** @param {string} text @returns {Time | null} */
function timeOf(text) {
  const found = TIME.exec(text);
  if (found === null) return null;
  let hour = Number(found[1]);
  const [minute, second] = [Number(found[2]), Number(found[3] ?? 0)];
  const half = (found[5] ?? "").toLowerCase();
  if (minute > 59 || second > 60 || (half !== "" && (hour < 1 || hour > 12))) return null;
  if (half !== "") hour = (hour % 12) + (half.startsWith("p") ? 12 : 0);
  const zone = (found[6] ?? "").toLowerCase().replace("\u2212", "-");
  const offset = zone === "" ? null : offsetOf(zone);
  if (zone !== "" && offset === null) return null;
  return { hours: hour + minute / 60 + (second + Number(`0.${found[4] ?? 0}`)) / 3600, offset };
}

/** @param {string} parted @param {string} text @returns {Time | null} of 20240105T103000Z, whose digits stand together */
function compactTime(parted, text) {
  const found = parted === "T" || parted === "t" ? COMPACT_TIME.exec(text) : null;
  if (found === null) return null;
  const [hour, minute, second] = [1, 2, 3].map((at) => Number(found[at] ?? 0));
  if (minute > 59 || second > 60) return null;
  const hours = hour + minute / 60 + (second + Number(found[4] ?? 0)) / 3600;
  return { hours, offset: found[5] === undefined ? null : offsetOf(found[5].toLowerCase()) };
}

/** @param {string} text @param {readonly string[]} months @param {boolean} compact @returns {Days | null} */
function daysOf(text, months, compact) {
  let found = YEAR_FIRST.exec(text);
  if (found !== null) return same(Number(found[1]), Number(found[3]), Number(found[4] ?? 1));
  found = NUMERIC.exec(text);
  if (found !== null) {
    const [one, two, last] = [Number(found[1]), Number(found[3]), Number(found[4])];
    const year = found[4].length === 4 ? last : century(last);
    const first = found[4].length === 2 && found[1].length === 2 ? dayOf(century(one), two, last) : null;
    /** @type {Days} */
    const days = [dayOf(year, two, one), dayOf(year, one, two), first];
    return days.every((day) => day === null) ? null : days;
  }
  found = MONTH_YEAR.exec(text);
  if (found !== null) return same(Number(found[2]), Number(found[1]), 1);
  found = EAST.exec(text);
  if (found !== null) return same(Number(found[1]), Number(found[2]), Number(found[3] ?? 1));
  found = compact ? COMPACT.exec(text) : null;
  if (found !== null) return same(Number(found[1]), Number(found[2]), Number(found[3]));
  found = WEEK.exec(text);
  if (found !== null) return weekDay(Number(found[1]), Number(found[2]), Number(found[3] ?? 1));
  found = QUARTER.exec(text);
  if (found !== null) return same(Number(found[1] ?? found[4]), 3 * Number(found[2] ?? found[3]) - 2, 1);
  return namedDays(text, monthNumbers(months));
}

/** @param {number} year @param {number} week @param {number} day @returns {Days | null} of a week of ISO 8601 */
function weekDay(year, week, day) {
  // The fourth of January is in the first week; days since 1970 begin with a Thursday.
  const monday = (/** @type {number} */ of) => {
    const fourth = dayOf(of, 1, 4);
    return fourth === null ? null : fourth - ((((fourth + 3) % 7) + 7) % 7);
  };
  const [first, next] = [monday(year), monday(year + 1)];
  if (first === null || next === null || week < 1 || first + 7 * (week - 1) >= next) return null;
  const found = first + 7 * (week - 1) + day - 1;
  return [found, found, found];
}

/** @param {string} text @param {Map<string, number>} names @returns {Days | null} of a date whose month is a word */
function namedDays(text, names) {
  if (!NAMED.test(text)) return null;
  let parts = (text.match(WORDS) ?? []).filter((part) => !BETWEEN.has(part.toLowerCase()));
  let months = parts.map((part) => names.get(part.toLowerCase()));
  const digits = (/** @type {string} */ part) => /^\d+$/u.test(part);
  const told = months.filter((month) => month !== undefined).length;
  if (parts.length > 0 && !digits(parts[0]) && told < parts.filter((part) => !digits(part)).length) {
    [parts, months] = [parts.slice(1), months.slice(1)];  // the day of the week
  }
  if ((months.length !== 2 && months.length !== 3) || months.filter((month) => month !== undefined).length !== 1) return null;
  const place = months.findIndex((month) => month !== undefined);
  const month = /** @type {number} */ (months[place]);
  const numbers = parts.filter((_, i) => i !== place);
  if (!numbers.every(digits)) return null;
  if (numbers.length === 1) {
    const [only] = numbers;
    const short = only.length === 2 && place === 0 && /^[\p{L}\p{N}_]+[-'’ ]?[-'’]\d\d$/u.test(text);
    if (only.length !== 4 && !short) return null;
    return same(only.length === 4 ? Number(only) : century(Number(only)), month, 1);
  }
  const [day, year] = numbers[0].length <= 2 ? numbers : [numbers[1], numbers[0]];
  if (day.length > 2 || (year.length !== 2 && year.length !== 4)) return null;
  return same(year.length === 4 ? Number(year) : century(Number(year)), month, Number(day));
}

/**
 * Return what date or time a text is, or null; of a time without a date, hours.
 * @param {string} cell
 * @param {readonly string[]} months
 * @returns {WrittenDate | null}
 */
export function dateIn(cell, months) {
  const text = usualDate(plainDigits(cell).trim());
  if (text.length < 4 || text.length > LONGEST || !/\p{N}/u.test(text)) return null;
  const whole = daysOf(text, months, false);
  if (whole !== null) return { days: whole, clock: false };
  const clock = timeOf(text);
  if (clock !== null) return clock.offset === null ? { days: [clock.hours, clock.hours, clock.hours], clock: true } : null;
  for (const part of text.matchAll(SPLIT)) {
    const after = text.slice(part.index + part[0].length);
    const time = TIMED.test(after) ? timeOf(after) : compactTime(part[0], after);
    const found = time === null || time.hours > 24 ? null : daysOf(text.slice(0, part.index), months, true);
    if (found === null || time === null) continue;
    const shift = time.hours / 24 - (time.offset ?? 0) / 1440;
    return { days: /** @type {Days} */ (found.map((day) => (day === null ? null : day + shift))), clock: false };
  }
  return null;
}

/**
 * Return the days since 1970 that a number stands for, by its size: a day of a spreadsheet, 20240105,
 * or seconds or milliseconds since 1970.
 * @param {number} number
 * @returns {number | null}
 */
export function serialDate(number) {
  if (number >= 61 && number < 200000) return number - 25569;
  if (Number.isInteger(number) && number >= 10000101 && number <= 99991231) {
    return dayOf(Math.floor(number / 10000), Math.floor(number / 100) % 100, number % 100);
  }
  if (number >= 1e8 && number < 1e11) return number / 86400;
  return number >= 1e11 && number < 1e14 ? number / 86400000 : null;
}
