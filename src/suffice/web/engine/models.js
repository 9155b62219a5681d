/**
 * A model as a page holds it, ready to answer: rows of cells in, posteriors, reasons and p-values
 * out.
 * @module
 */

import { leadingTwo, logAddExp, logSumExp, normalized } from "./bayes.js";
import { coded, owners } from "./tables/design.js";
import { linearPosterior } from "./linear.js";
import { DiagonalNormals, FullNormals } from "./normals.js";
import { unpackedCounts } from "./tables/packed.js";
import { productExplanation, productPosterior } from "./product.js";
import { AveragedLaws, DiagonalStudents, FullStudents, MixtureLaws } from "./students.js";
import { languageTable, textExplanation, textPosterior } from "./text.js";
import { DrawnTypicality, normalTypicality, sampler } from "./typicality.js";

/** @typedef {import("./matrix.js").Vector} Vector */
/** @typedef {import("./tables/cells.js").Cell} Cell */
/** @typedef {import("./tables/cells.js").Column} Column */
/** @typedef {import("./random.js").Random} Random */
/** @typedef {{ baseline: number, parts: { name: string, value: number }[] }} Explanation */

/**
 * What a model answers.
 * @typedef {object} Answers
 * @property {string[]} labels
 * @property {(row: Cell[]) => Vector} posterior log p(y | x)
 * @property {((row: Cell[], of: number, against: number) => Explanation) | null} explain
 * @property {((row: Cell[]) => Vector | null) | null} typicality p-values
 * @property {((random: Random) => { row: Cell[], code: number }) | null} sample
 */

/**
 * Return a law out of what a page says of it.
 * @param {any} held
 * @returns {any}
 */
export function lawFrom(held) {
  if (held.type === "full") return new FullNormals(held, squares(held.factors), held.rank, held);
  if (held.type === "diagonal") return new DiagonalNormals(held, held.deviations);
  if (held.type === "full-students") {
    return new FullStudents(held, squares(held.factors), held.freedom, held.stretches);
  }
  if (held.type === "diagonal-students") {
    return new DiagonalStudents(held, held.spreads, held.freedom, held.joint);
  }
  if (held.type === "averaged") {
    return new AveragedLaws(held.laws.map(lawFrom), held.temperatures, held.shares);
  }
  if (held.type === "mixtures") return new MixtureLaws(lawFrom(held.components), held.mixing);
  throw new Error(`a law of the kind ${held.type} is not known`);
}

/**
 * Fill in the zeros of lower triangles.
 * @param {import("./matrix.js").Matrix[]} factors
 * @returns {import("./matrix.js").Matrix[]}
 */
function squares(factors) {
  return factors.map((L) => L.map((row) => [...row, ...new Array(L.length - row.length).fill(0)]));
}

/**
 * Return a model out of the content of a page.
 * @param {any} content
 * @returns {Promise<Answers>}
 */
export async function openModel(content) {
  const logPriors = content.logPriors?.map((/** @type {number | null} */ p) => p ?? -Infinity);
  const held = { ...content, logPriors };
  if (content.kind === "normal") return normalAnswers(held);
  if (content.kind === "product") return productAnswers(held);
  if (content.kind === "linear") return linearAnswers(held);
  if (content.kind === "text") return textAnswers(held);
  throw new Error(`a model of the kind ${content.kind} is not known`);
}

/**
 * Add up what coded columns contribute, by the user's columns.
 * @param {any} content
 * @param {Vector} parts
 * @returns {{ name: string, value: number }[]}
 */
function byColumn(content, parts) {
  const sums = content.columns.map((/** @type {Column} */ column) => ({ name: column.name, value: 0 }));
  const own = owners(content.design, content.filled);
  parts.forEach((value, i) => (sums[own[i]].value += value));
  return sums;
}

/** @param {any} content @returns {Answers} */
function normalAnswers(content) {
  const law = lawFrom(content.law);
  const { logPriors, design } = content;
  const flat = law instanceof FullNormals || law instanceof DiagonalNormals;
  return {
    labels: content.labels,
    posterior: (row) => normalized(law.scores(coded(row, design), logPriors)),
    explain: !flat ? null : (row, of, against) => {
      const found = law.explain(coded(row, design), of, against);
      return {
        baseline: found.baseline + logPriors[of] - logPriors[against],
        parts: byColumn(content, found.parts),
      };
    },
    typicality: !flat ? null : (row) => normalTypicality(law, coded(row, design), content.sampling),
    sample: !flat && !(law instanceof MixtureLaws) ? null : (random) => {
      const code = random.choice(logPriors.map(Math.exp));
      return { row: decoded(content, law.sample(code, random)), code };
    },
  };
}

/**
 * Return the cells that coded numbers stand for: categories by the largest of their columns.
 * @param {any} content
 * @param {Vector} x
 * @returns {Cell[]}
 */
function decoded(content, x) {
  let at = 0;
  return content.design.columns.map((/** @type {Column} */ column) => {
    if (column.kind === "number") return x[at++];
    if (column.kind === "boolean") return x[at++] > 0.5;
    const group = x.slice(at, (at += column.levels.length));
    return column.levels[group.indexOf(Math.max(...group))] ?? null;
  });
}

/** @param {any} content @returns {Answers} */
function productAnswers(content) {
  /** @type {DrawnTypicality | null} */
  let drawn = null;
  const width = content.columns.length;
  const laws = content.laws.filter((/** @type {any} */ law) => law.type !== "common");
  const samples = laws.every((/** @type {any} */ law) => sampler(law, 0) !== null);
  return {
    labels: content.labels,
    posterior: (row) => productPosterior(content, row),
    explain: (row, of, against) => {
      const found = productExplanation(content, row, of, against, width);
      const parts = found.parts.map((value, j) => ({ name: content.columns[j].name, value }));
      return { baseline: found.baseline, parts };
    },
    typicality: !samples ? null : (row) => (drawn ??= new DrawnTypicality(content)).of(row),
    sample: !samples ? null : (random) => {
      const code = random.choice(content.logPriors.map(Math.exp));
      /** @type {Cell[]} */
      const row = new Array(width).fill(null);
      for (const law of laws) row[law.column] = /** @type {any} */ (sampler(law, code))(random);
      return { row, code };
    },
  };
}

/** @param {any} content @returns {Answers} */
function linearAnswers(content) {
  const { design, filled, forms, shares } = content;
  /** @param {Cell[]} row @returns {Vector} */
  const read = (row) => {
    const x = coded(row, design, filled);
    const blank = x.findIndex(Number.isNaN);
    if (blank >= 0) {
      const name = content.columns[owners(design, filled)[blank]].name;
      throw new Error(`${name} is blank, and this model needs every number`);
    }
    return x;
  };
  return {
    labels: content.labels,
    posterior: (row) => {
      const x = read(row);
      /** @type {Vector | null} */
      let found = null;
      forms.forEach((/** @type {any} */ form, /** @type {number} */ g) => {
        const logs = linearPosterior(form, x).map((log) => log + Math.log(shares[g]));
        found = found === null ? logs : found.map((log, c) => logAddExp(log, logs[c]));
      });
      return normalized(/** @type {Vector} */ (/** @type {unknown} */ (found)));
    },
    explain: forms.length > 1 ? null : (row, of, against) => {
      const [form, x] = [forms[0], read(row)];
      const parts = x.map((value, j) =>
        (value - form.origin[j]) * (form.weights[of][j] - form.weights[against][j]));
      return { baseline: form.offsets[of] - form.offsets[against], parts: byColumn(content, parts) };
    },
    typicality: null,
    sample: null,
  };
}

/** @param {any} content @returns {Promise<Answers>} */
async function textAnswers(content) {
  const size = content.labels.length;
  const model = { ...content, terms: null, language: null };
  if (content.terms !== null) {
    model.terms = { ...content.terms, ...(await unpackedCounts(content.terms.packed, size)) };
  }
  if (content.language !== null) {
    const { order, limit, packed } = content.language;
    const { keys, counts } = await unpackedCounts(packed, size);
    model.language = languageTable(order, limit, keys, counts, size);
  }
  /** @param {Cell[]} row @returns {string} */
  const joined = (row) => row.filter((cell) => cell !== null).join("\n");
  return {
    labels: content.labels,
    posterior: (row) => textPosterior(model, joined(row)).logs,
    explain: (row, of, against) => textExplanation(model, joined(row), of, against),
    typicality: null,
    sample: null,
  };
}

/**
 * Return everything that a page says of one row.
 * @param {Answers} model
 * @param {Cell[]} row
 * @param {{ reasons?: boolean }} [options]
 * @returns {{ shares: Vector, of: number, against: number, explanation: Explanation | null,
 *   typicality: Vector | null }}
 */
export function answer(model, row, options = {}) {
  const logs = model.posterior(row);
  const total = logSumExp(logs);
  const shares = logs.map((log) => Math.exp(log - total));
  const [of, against] = leadingTwo(logs);
  const asked = (options.reasons ?? true) && logs.length > 1;
  return {
    shares,
    of,
    against,
    explanation: asked && model.explain !== null ? model.explain(row, of, against) : null,
    typicality: (options.reasons ?? true) && model.typicality !== null ? model.typicality(row) : null,
  };
}
