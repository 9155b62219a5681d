/**
 * Texts as cells of a kind that is known: numbers, truths, categories, or nothing.
 * The same rules as those of `suffice predict`; words that mean "blank" come with the page.
 * @module
 */

import { readDate } from "./dates.js";
import { plainDigits } from "./plain_digits.js";

/** @typedef {number | string | boolean | null} Cell */

/**
 * How a column is written whose texts stand for numbers or truths.
 * @typedef {object} Spelling
 * @property {string} kind
 * @property {string} [decimal]
 * @property {string} [currency]
 * @property {boolean} [percent]
 * @property {string} [unit]
 * @property {[string[], string[]][]} [pairs] words for yes and no
 * @property {string} [date] the order of a date, or "clock"
 * @property {boolean} [timed] whether dates have a time
 * @property {boolean} [ticked] whether cells are ticks or blank, which means no
 */

/**
 * A column of the table, before anything is filled or coded.
 * @typedef {object} Column
 * @property {string} name
 * @property {"number" | "boolean" | "category"} kind
 * @property {Cell[]} levels
 * @property {Spelling | null} spelling
 * @property {number} [low]
 * @property {number} [high]
 * @property {number} [usual]
 * @property {{ of: number, part: "month" | "weekday" | "hour", clock: boolean }} [made] of a column
 *   that is a part of a date: of which one
 */

/** @typedef {{ blanks: string[], currencies: string[], months?: string[] }} Reading */

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const CODE = /^[+-]?(?:0\d+|\d{16,})$/;
/** @type {Record<string, number>} */
const TRUTHS = { true: 1, True: 1, TRUE: 1, false: 0, False: 0, FALSE: 0 };
const OUTSIDE = "[^\\d\\s()+\\-\\u2212\\u2013\\u25b2\\u25b3%\\uff05\\u066a.,'’]";
const AFFIX = `(?:[\\u0600-\\u06ff]\\.[\\u0600-\\u06ff]\\.?|° [A-Z]|${OUTSIDE}{1,12}\\.?)`;
const SIGN = "[+\\-\\u2212\\u2013\\u25b2\\u25b3\\ufe63\\uff0d]";
const WRITTEN = new RegExp(
  `^\\s*(?<open>\\()?\\s*(?<sign>${SIGN})?\\s*(?:(?<before>${AFFIX})\\s*)?(?<late>\\()?\\s*` +
    `(?<inner>${SIGN})?\\s*(?<first>[%\\uff05\\u066a])?\\s*` +
    "(?<body>(?:\\d[\\d.,'’ \\u00a0\\u2007\\u2009\\u202f]*|[.,]\\d+)(?:[eE][+-]?\\d+)?)" +
    "(?<dash>(?<=[.,])[-–—]{1,2}|/[-=])?\\s*(?:(?<behind>[-\\u2212])(?=\\s*[%\\uff05\\u066a]))?\\s*(?<percent>[%\\uff05\\u066a])?\\s*" +
    `(?<after>${AFFIX})?\\s*(?<trail>[-\\u2212])?\\s*(?<close>\\))?\\s*$`,
  "u",
);
const NOTHING = new RegExp(`^\\s*(?:(?<before>${AFFIX})\\s*[-–—]|[-–—]\\s*(?<after>${AFFIX}))\\s*$`, "u");
const POINTED = new RegExp(
  "^(?:(?:[1-9]\\d{0,2}(?:([, '])\\d{3})(?:\\1\\d{3})*|[1-9]\\d?(?:,\\d{2})+,\\d{3}" +
    "|0|[1-9]\\d*|0+(?=\\.))(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?$",
);
const COMMAED = new RegExp(
  "^(?:(?:[1-9]\\d{0,2}(?:([. '])\\d{3})(?:\\1\\d{3})*|0|[1-9]\\d*|0+(?=,))(?:,\\d*)?|,\\d+)" +
    "(?:[eE][+-]?\\d+)?$",
);
const EXPONENT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+$/;

/** Digits before a Z that are a date with its time: 20240105103000Z. */
const STAMP = 14;
const POWER = /(?<=\d)\s?[×·⋅∙*xX]\s?10(?:\^\(?([+\-−]?\d{1,3})\)?|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))/u;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** @param {string} text @returns {string} with powers of ten as exponents: 1.5e5 for 1.5×10^5 */
function withoutPowers(text) {
  return text.replace(POWER, (_, plain, raised) => `e${[...(plain ?? raised)].map((c) =>
    RAISED.includes(c) ? `${RAISED.indexOf(c)}` : c === "⁺" ? "+" : c === "⁻" || c === "−" ? "-" : c).join("")}`);
}

/** What cannot be read as the column is. */
export class UnreadableCell extends Error {}

/**
 * Whether a text says, beside numbers and truths, that there is nothing.
 * @param {string} text
 * @param {Reading} reading
 * @returns {boolean}
 */
export function isBlank(text, reading) {
  const bare = text.trim();
  return bare === "" || reading.blanks.includes(text) || reading.blanks.includes(bare);
}

/**
 * Return the cell that a text stands for; null where it is blank.
 * @param {string} text
 * @param {Column} column
 * @param {Reading} reading
 * @returns {Cell}
 */
export function readCell(text, column, reading) {
  const { kind, spelling } = column;
  if (kind === "category") {
    if (text.trim() === "") return null;
    return spelling === null ? text : levelName(text);
  }
  if (isBlank(text, reading)) return spelling?.ticked ? false : null;
  const value = spelling === null ? plainValue(text, kind) : spelledValue(text, spelling, reading);
  if (value === null && spelling?.date) {
    const like = spelling.date === "clock" ? "14:30" : "2024-01-31";
    throw new UnreadableCell(`“${text.slice(0, 60)}” is not understood here: write it like ${like}`);
  }
  if (value === null) {
    const what = kind === "number" ? "a number" : "true or false";
    const told = spelling === null ? what : `${what} as this column is written`;
    throw new UnreadableCell(`“${text.slice(0, 60)}” is not ${told}`);
  }
  return kind === "boolean" ? value === 1 : value;
}

/** @param {string} text @param {string} kind @returns {number | null} */
function plainValue(text, kind) {
  if (Object.hasOwn(TRUTHS, text)) return TRUTHS[text];
  const bare = text.trim();
  if (!NUMBER.test(bare) || CODE.test(bare)) return null;
  const value = Number(bare);
  if (!Number.isFinite(value) || (kind === "boolean" && value !== 0 && value !== 1)) return null;
  return value;
}

/** @param {string} text @param {Spelling} spelling @param {Reading} reading @returns {number | null} */
function spelledValue(text, spelling, reading) {
  if (spelling.kind === "boolean") {
    if (Object.hasOwn(TRUTHS, text)) return TRUTHS[text];
    const word = text.trim().toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "").replaceAll("ς", "σ").normalize("NFC");
    for (const [yes, no] of spelling.pairs ?? []) {
      if (yes.includes(word)) return 1;
      if (no.includes(word)) return 0;
    }
    return null;
  }
  if (spelling.date) {
    return readDate(text, spelling.date, reading.months, (one) => writtenNumber(one, reading)?.point ?? null);
  }
  const found = writtenNumber(text, reading);
  if (found === null) return null;
  const percent = spelling.percent ?? false;
  if (found.percent !== percent) return percent && text.includes("e") ? found.point : null;
  const side = spelling.unit === "Cr/Dr" ? { cr: 1, dr: -1 }[found.unit.toLowerCase().replace(/\.+$/u, "")] : undefined;
  const same =
    ["", spelling.currency ?? ""].includes(found.currency) &&
    (side !== undefined || ["", spelling.unit ?? ""].includes(found.unit));
  if (!same) return null;
  const value = (spelling.decimal ?? ".") === "." ? found.point : found.comma;
  return value === null ? null : (side ?? 1) * value;
}

/**
 * Return what number a text is, by either decimal mark.
 * @param {string} text
 * @param {Reading} reading
 * @returns {{ point: number | null, comma: number | null, currency: string, unit: string,
 *   percent: boolean } | null}
 */
export function writtenNumber(text, reading) {
  text = withoutPowers(plainDigits(text));
  if (EXPONENT.test(text)) {
    return { point: Number(text), comma: Number(text), currency: "", unit: "", percent: false };
  }
  const parts = text.length > 64 ? undefined : WRITTEN.exec(text)?.groups;
  /** @param {string} word @returns {boolean} */
  const currency = (word) => {
    if (word === "") return false;
    const signs = [...word].filter((letter) => /\p{Sc}/u.test(letter)).length;
    return reading.currencies.includes(word) || (signs === 1 && [...word].length <= 4);
  };
  if (parts === undefined) {
    const found = text.length > 64 ? undefined : NOTHING.exec(text)?.groups;
    const paid = found?.before ?? found?.after ?? "";
    return currency(paid) ? { point: 0, comma: 0, currency: paid, unit: "", percent: false } : null;
  }
  const before = parts.before ?? "";
  const after = parts.after ?? "";
  if (before !== "" && (!currency(before) || currency(after))) return null;
  const opened = parts.open ?? parts.late;
  const signs = [parts.sign, parts.inner, parts.trail, parts.behind, parts.open, parts.late].filter((s) => s !== undefined);
  if (signs.length > 1 || (opened === undefined) !== (parts.close === undefined)) return null;
  if (parts.first !== undefined && parts.percent !== undefined) return null;
  const negative = signs.some((sign) => sign !== "+");
  const percent = (parts.first ?? parts.percent) !== undefined;
  let body = parts.body.replace(/[ \u00a0\u2007\u2009\u202f]+$/u, "");
  body = body.replace(/[\u00a0\u2007\u2009\u202f]/gu, " ").replace(/’/gu, "'");
  if (parts.dash !== undefined && !parts.dash.startsWith("/")) body = body.slice(0, -1);
  const point = digitsValue(body, ".", negative, percent);
  const comma = digitsValue(body, ",", negative, percent);
  if ((point === null && comma === null) || (after === "Z" && body.length === STAMP)) return null;
  const unit = currency(after) ? "" : after;
  return { point, comma, currency: before || (unit ? "" : after), unit, percent };
}

/**
 * @param {string} body @param {string} mark @param {boolean} negative @param {boolean} percent
 * @returns {number | null}
 */
function digitsValue(body, mark, negative, percent) {
  if (!(mark === "." ? POINTED : COMMAED).test(body)) return null;
  const other = mark === "." ? "," : ".";
  const digits = body.replaceAll(other, "").replace(/[ ']/g, "").replace(mark, ".");
  if (digits.length > 15 && /^\d+$/.test(digits)) return null;
  const exponent = /e/i.test(digits);
  const value = percent && exponent ? Number(digits) / 100 : Number(percent ? `${digits}e-2` : digits);
  if (!Number.isFinite(value)) return null;
  return negative ? -value : value;
}

/**
 * Return the name of a category that may be written as a number.
 * @param {string} text
 * @returns {string}
 */
function levelName(text) {
  const whole = /^(-?(?:0|[1-9]\d{0,14}))\.0*$/.exec(text);
  return whole === null ? text : whole[1];
}
