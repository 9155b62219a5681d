/**
 * A form made from the columns: numbers with their range, categories as lists, and blanks.
 * @module
 */

import { readCell } from "../engine/tables/cells.js";
import { writtenDate } from "../engine/tables/date_writing.js";
import { withParts } from "../engine/tables/dates.js";
import { el, named, visible } from "./dom.js";

/** @typedef {import("../engine/tables/cells.js").Column & { digits?: number }} Column */
/** @typedef {import("../engine/tables/cells.js").Reading} Reading */
/** @typedef {import("../engine/tables/cells.js").Cell} Cell */

/** Categories up to which a list is shown; of more, one types. */
const MOST_LISTED = 200;

/** One field of the form. */
class Field {
  /**
   * @param {Column} column
   * @param {Reading} reading
   * @param {number} place
   * @param {boolean} document whether cells are documents
   * @param {() => void} changed
   */
  constructor(column, reading, place, document, changed) {
    this.column = column;
    this.reading = reading;
    this.problem = el("p", { class: "problem", role: "alert", id: `problem-${place}` });
    const id = `field-${place}`;
    /** @type {HTMLInputElement | null} */
    this.slider = null;
    this.input = this.control(id, place, document);
    this.input.addEventListener("input", () => {
      this.follow();
      changed();
    });
    const label = el("label", { for: id }, named(column.name));
    this.element = el("div", { class: "field" }, label, this.input);
    const slider = /** @type {HTMLInputElement | null} */ (this.slider);
    if (slider !== null) {
      slider.addEventListener("input", () => {
        this.input.value = this.written(Number(slider.value));
        this.follow();
        changed();
      });
      this.element.append(slider);
    } else if (column.kind === "number" && column.usual !== undefined) {
      this.element.append(el("p", { class: "hint" }, `about ${this.written(column.usual)} on average`));
    }
    this.element.append(this.problem);
    this.follow();
  }

  /**
   * @param {string} id @param {number} place @param {boolean} document
   * @returns {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement}
   */
  control(id, place, document) {
    const { column } = this;
    const about = { id, "aria-describedby": `problem-${place}` };
    if (document) return el("textarea", { ...about, rows: 7, placeholder: "Type or paste a text" });
    if (column.kind === "category" && column.levels.length <= MOST_LISTED) {
      const levels = column.levels.map((level) =>
        el("option", { value: String(level) }, visible(String(level)).slice(0, 80)));
      return el("select", about, el("option", { value: "" }, "(blank)"), ...levels);
    }
    if (column.kind === "boolean") {
      const { yes, no } = /** @type {any} */ (column.spelling ?? { yes: "true", no: "false" });
      return el("select", about, el("option", { value: "" }, "(blank)"),
        el("option", { value: yes }, visible(yes)), el("option", { value: no }, visible(no)));
    }
    if (column.kind === "number" && column.low !== undefined && column.high !== undefined) {
      const step = column.digits === undefined ? "any" : 10 ** -column.digits;
      const [low, high] = step === "any" ? [column.low, column.high]
        : [Math.floor(column.low / step) * step, Math.ceil(column.high / step) * step];
      this.slider = el("input", {
        type: "range", min: low, max: high, step, value: (low + high) / 2,
        "aria-label": `${column.name}, as a slider`,
      });
    }
    const numeric = column.kind === "number" && !column.spelling?.date;
    const range = this.slider === null ? "blank"
      : `${this.written(Number(this.slider.min))} to ${this.written(Number(this.slider.max))}`;
    return el("input", {
      ...about, type: "text", autocomplete: "off", inputmode: numeric ? "decimal" : "text",
      placeholder: range,
    });
  }

  /** @param {number} value @returns {string} a number as the column writes it */
  written(value) {
    const { digits, spelling } = this.column;
    if (spelling?.date) return writtenDate(value, spelling.date, spelling.timed ?? false);
    const percent = spelling?.percent ?? false;
    const places = digits === undefined ? null : Math.max(0, percent ? digits - 2 : digits);
    const number = percent ? value * 100 : value;
    let text = places === null ? String(Number(number.toPrecision(4))) : number.toFixed(places);
    if (spelling?.decimal === ",") text = text.replace(".", ",");
    return percent ? `${text}%` : text;
  }

  /** Let the slider stand where the text says. */
  follow() {
    if (this.slider === null) return;
    let cell = null;
    try {
      cell = readCell(this.input.value, this.column, this.reading);
    } catch {
      cell = null;
    }
    this.element?.classList.toggle("blank", cell === null);
    if (cell !== null) this.slider.value = String(cell);
    // Without a number it stands in the middle, as it did at first.
    else if (this.input.value === "") this.slider.value = this.slider.defaultValue;
  }

  /** @returns {Cell} what the field says; what cannot be read is told beside it, and is blank */
  read() {
    this.problem.textContent = "";
    this.input.removeAttribute("aria-invalid");
    try {
      return readCell(this.input.value, this.column, this.reading);
    } catch (error) {
      this.problem.textContent = `${/** @type {Error} */ (error).message}; it is taken as blank.`;
      this.input.setAttribute("aria-invalid", "true");
      return null;
    }
  }

  /** @param {Cell} cell */
  write(cell) {
    const { column } = this;
    if (cell === null) this.input.value = "";
    else if (column.kind === "number") this.input.value = this.written(Number(cell));
    else if (column.kind === "boolean") {
      const words = /** @type {any} */ (column.spelling ?? { yes: "true", no: "false" });
      this.input.value = Number(cell) > 0.5 ? words.yes : words.no;
    } else this.input.value = String(cell);
    this.follow();
  }
}

/** All fields. */
export class Form {
  /**
   * @param {HTMLElement} place
   * @param {Column[]} columns
   * @param {Reading} reading
   * @param {boolean} documents
   * @param {() => void} changed
   */
  constructor(place, columns, reading, documents, changed) {
    this.fields = columns.map((column, j) => new Field(column, reading, j, documents, changed));
    this.columns = columns;
    // Parts of dates are made of these, and not asked for.
    place.append(...this.fields.filter((field) => field.column.made === undefined).map((field) => field.element));
  }

  /** @returns {Cell[]} */
  read() {
    return withParts(this.fields.map((field) => field.read()), this.columns);
  }

  /** @param {(Cell)[]} row */
  write(row) {
    this.fields.forEach((field, j) => field.write(row[j]));
  }
}
