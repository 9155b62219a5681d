/**
 * Digits and decimal marks of other scripts. The same as those of Python's `written_numbers`.
 * @module
 */

const ZEROS = ["٠", "۰", "०", "০", "０"];
/** @type {Map<string, string>} Digits and marks that mean the same, and marks that nobody sees. */
const SAME = new Map([
  ...ZEROS.flatMap((zero) =>
    [...Array(10).keys()].map((n) => /** @type {[string, string]} */ ([String.fromCodePoint(zero.charCodeAt(0) + n), `${n}`]))),
  ["٫", "."], ["．", "."], ["٬", ","], ["，", ","],
]);
const UNSEEN = /[\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/**
 * Return a cell with the digits and decimal marks of any script as those of this one.
 * @param {string} text @returns {string}
 */
export function plainDigits(text) {
  return /^[\x00-\x7f]*$/.test(text) ? text : [...text.replace(UNSEEN, "")].map((c) => SAME.get(c) ?? c).join("");
}
