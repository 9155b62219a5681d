/**
 * A model that can be mailed: one row in a form, many in a table, and what the model is.
 * @module
 */

import { answer, openModel } from "../engine/models.js";
import { Random } from "../engine/random.js";
import { showAnswer } from "./answer_view.js";
import { byId, el, named, percent, save } from "./dom.js";
import { Form } from "./form.js";
import { answeredTable, startTable } from "./table_view.js";

/** @param {string} id @returns {any} */
function block(id) {
  return JSON.parse(byId(id).textContent ?? "null");
}

/** @param {any} content @param {string[]} colours */
function describe(content, colours) {
  const { about } = content;
  const place = byId("classes");
  const total = about.classes.reduce((/** @type {number} */ sum, /** @type {any} */ c) => sum + (c.prior ?? 0), 0);
  about.classes.slice(0, 50).forEach((/** @type {any} */ one, /** @type {number} */ c) => {
    const chip = el("span", { class: "chip", "aria-hidden": "true" });
    chip.style.backgroundColor = colours[c % colours.length];
    const parts = [];
    if (one.weight !== null) parts.push(`${Number(one.weight.toFixed(2)).toLocaleString("en")} rows`);
    if (one.prior !== null && total > 0) parts.push(`${percent(one.prior)} of all`);
    place.append(el("li", {}, chip, named(one.label), parts.length > 0 ? `: ${parts.join(", ")}` : ""));
  });
  for (const sentence of about.assumptions) byId("assumes").append(el("li", {}, sentence));
  for (const sentence of about.unsure) byId("doubts").append(el("li", {}, sentence));
  byId("doubts-part").hidden = about.unsure.length === 0;
}

async function start() {
  const content = block("model");
  const colours = block("palette").colours;
  const model = await openModel(content);
  const documents = content.kind === "text";
  const form = new Form(byId("fields"), content.columns, content.reading, documents, ask);
  let seed = 1;
  let waiting = false;

  function ask() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      show();
    });
  }

  function show() {
    const place = byId("shown");
    const row = form.read();
    try {
      const found = answer(model, row);
      showAnswer(place, found, model.labels, colours, row.every((cell) => cell === null));
    } catch (error) {
      place.replaceChildren(el("p", { class: "care", role: "alert" }, /** @type {any} */ (error).column === undefined
        ? `${/** @type {Error} */ (error).message}.`
        : `${content.columns[/** @type {any} */ (error).column].name}: ${/** @type {Error} */ (error).message}.`));
    }
  }

  byId("clear").addEventListener("click", () => {
    form.write(content.columns.map(() => null));
    show();
  });
  const draw = byId("draw");
  draw.hidden = model.sample === null;
  draw.addEventListener("click", () => {
    if (model.sample === null) return;
    form.write(model.sample(new Random(seed++)).row);
    show();
  });
  describe(content, colours);
  startTable(model, content, content.name);
  if (document.getElementById("file-inside") !== null) {
    const kept = block("file-inside");
    const button = byId("save-model");
    button.hidden = false;
    button.addEventListener("click", () => {
      const bytes = Uint8Array.from(atob(kept.bytes), (letter) => letter.charCodeAt(0));
      save(kept.name, bytes, "application/octet-stream");
    });
  }
  show();
  byId("page").hidden = false;
  // What a program that drives the page may ask: the same answers as those that are shown.
  Object.assign(window, {
    modelPage: {
      /** @param {{ names: string[], rows: string[][] }} table */
      answered: (table) => answeredTable(table, model, content, async () => {}),
    },
  });
}

start().catch((error) => {
  byId("page").hidden = true;
  const place = byId("broken");
  place.hidden = false;
  place.textContent = `The model in this page cannot be read (${String(error.message ?? error).slice(0, 200)}). ` +
    "The file is damaged, or was changed: write it again with “suffice page”.";
});
