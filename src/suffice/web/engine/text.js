/**
 * Texts: terms and their numbers of 64 bits, four event models of terms, and a language of bytes
 * for each class, interpolated as Witten and Bell did.
 * @module
 */

import { normalized } from "./bayes.js";

/** @typedef {import("./matrix.js").Vector} Vector */

/**
 * Terms of all classes: keys, and beside each the classes that hold it.
 * @typedef {object} TermTable
 * @property {string} event
 * @property {[number, number]} ngrams
 * @property {boolean} lower
 * @property {number} smoothing
 * @property {Float64Array} keys the first 48 bits of each term's number, sorted
 * @property {Float64Array} counts of every key and class, one key after the other
 * @property {Vector} documents the weights of the classes
 * @property {Vector} classTotals
 * @property {number} vocabulary how many terms were learned, with those that are not here
 * @property {Vector} absent of Bernoulli terms: Σ_j log (n_c - N_jc + α)/(n_c + α)
 */

/**
 * Log probabilities of bytes: n-grams by length, and what a context never followed hands on.
 * @typedef {object} LanguageTable
 * @property {number} order
 * @property {number | null} limit
 * @property {Map<number, number>[]} places of n-grams, by their number of symbols
 * @property {Float64Array[]} logs
 * @property {Float64Array[]} backoff
 * @property {Vector} bottom
 */

/**
 * @typedef {object} TextModel
 * @property {Vector} logPriors
 * @property {TermTable | null} terms
 * @property {LanguageTable | null} language
 * @property {Vector | null} factors
 * @property {Vector | null} shifts
 */

const SEED = 0x243f6a8885a308d3n;
const STEP = 0x9e3779b97f4a7c15n;
const FIRST = 0xff51afd7ed558ccdn;
const SECOND = 0xc4ceb9fe1a85ec53n;
const ALL = 0xffffffffffffffffn;
const SYMBOLS = 257;
const BOS = 256;
const EOT = 257;
const TOKEN = /[\p{L}\p{N}_'-]+|[$£€!?%*#@]+/gu;
const ENCODER = new TextEncoder();

/** @param {bigint} h @returns {bigint} */
function mixed(h) {
  h ^= h >> 33n;
  h = (h * FIRST) & ALL;
  h ^= h >> 33n;
  h = (h * SECOND) & ALL;
  return h ^ (h >> 33n);
}

/**
 * Return the number of a word.
 * @param {string} word
 * @returns {bigint}
 */
export function wordHash(word) {
  const bytes = ENCODER.encode(word);
  let h = (SEED + BigInt(bytes.length) * STEP) & ALL;
  for (let start = 0; start < bytes.length; start += 8) {
    let piece = 0n;
    for (let i = Math.min(start + 8, bytes.length) - 1; i >= start; i--) piece = (piece << 8n) | BigInt(bytes[i]);
    h = ((h ^ piece) * STEP) & ALL;
    h ^= h >> 32n;
  }
  return mixed(h);
}

/**
 * Return the terms of a document with their numbers, in the order of their last words.
 * @param {string} text
 * @param {[number, number]} ngrams
 * @param {boolean} lower
 * @returns {{ term: string, key: bigint }[]}
 */
export function termsOf(text, ngrams, lower) {
  const words = (lower ? text.toLowerCase() : text).match(TOKEN) ?? [];
  const hashes = words.map(wordHash);
  /** @type {{ term: string, key: bigint }[]} */
  const found = [];
  for (let end = 1; end <= words.length; end++) {
    for (let n = 1; n <= Math.min(ngrams[1], end); n++) {
      if (n < ngrams[0]) continue;
      let key = hashes[end - n];
      for (let i = end - n + 1; i < end; i++) key = mixed((key * STEP + hashes[i]) & ALL);
      found.push({ term: words.slice(end - n, end).join(" "), key });
    }
  }
  return found;
}

/** @param {TermTable} table @param {bigint} whole @returns {number} */
function placeOf(table, whole) {
  const key = Number(whole >> 16n);
  let [low, high] = [0, table.keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (table.keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low < table.keys.length && table.keys[low] === key ? low : -1;
}

/**
 * Return the scores of a document's terms, how many are known, and what each of them adds.
 * @param {TermTable} table
 * @param {string} text
 * @returns {{ scores: Vector, length: number, silent: Vector,
 *   parts: { term: string, scores: Vector }[], unknown: string[] }}
 */
export function termScores(table, text) {
  const { smoothing: alpha, documents, classTotals, event } = table;
  const size = documents.length;
  /** @type {Map<number, { term: string, amount: number }>} */
  const known = new Map();
  /** @type {Set<string>} */
  const unknown = new Set();
  for (const { term, key } of termsOf(text, table.ngrams, table.lower)) {
    const place = placeOf(table, key);
    if (place < 0) {
      if (!term.includes(" ")) unknown.add(term);
      continue;
    }
    const held = known.get(place);
    if (held === undefined) known.set(place, { term, amount: 1 });
    else if (event === "multinomial") held.amount += 1;
  }
  const all = classTotals.reduce((sum, n) => sum + n, 0);
  const silent = new Array(size).fill(0);
  if (event === "bernoulli") {
    for (let c = 0; c < size; c++) {
      const n = documents[c];
      silent[c] = table.vocabulary * (Math.log(n + alpha) - Math.log(n + 2 * alpha)) + table.absent[c];
    }
  }
  const width = Math.max(table.vocabulary, 1);
  let length = 0;
  const parts = [...known].map(([place, { term, amount }]) => {
    length += amount;
    const counts = table.counts.subarray(place * size, (place + 1) * size);
    const total = counts.reduce((sum, n) => sum + n, 0);
    const scores = documents.map((n, c) => {
      if (event === "bernoulli") return Math.log(counts[c] + alpha) - Math.log(Math.max(n - counts[c], 0) + alpha);
      if (event === "complement") {
        const rest = Math.log(all - classTotals[c] + alpha * width);
        return amount * (rest - Math.log(Math.max(total - counts[c], 0) + alpha));
      }
      return amount * (Math.log(counts[c] + alpha) - Math.log(classTotals[c] + alpha * width));
    });
    return { term, scores };
  });
  const scores = silent.map((s, c) => parts.reduce((sum, part) => sum + part.scores[c], s));
  return { scores, length: event === "bernoulli" ? length + 1 : length, silent, parts, unknown: [...unknown] };
}

/**
 * Return the log probabilities of every symbol of a text in every class.
 * @param {LanguageTable} table
 * @param {Uint8Array} bytes
 * @returns {Vector[]}
 */
export function symbolLogs(table, bytes) {
  const { order, limit, bottom } = table;
  const cut = limit !== null && bytes.length > limit;
  const symbols = [...bytes.subarray(0, cut ? /** @type {number} */ (limit) : bytes.length)];
  if (!cut) symbols.push(EOT);
  const padded = [...new Array(order - 1).fill(BOS), ...symbols];
  const size = bottom.length;
  return symbols.map((_, i) => {
    const end = i + order;
    let matched = 0;
    /** @type {Vector} */
    let logs = bottom.slice();
    for (let m = order; m > 0 && matched === 0; m--) {
      const place = table.places[m - 1].get(keyOf(padded, end - m, end));
      if (place === undefined) continue;
      matched = m;
      logs = Array.from(table.logs[m - 1].subarray(place * size, (place + 1) * size));
    }
    for (let m = Math.max(matched, 1); m < order; m++) {
      const place = table.places[m - 1].get(keyOf(padded, end - 1 - m, end - 1));
      if (place === undefined) continue;
      for (let c = 0; c < size; c++) logs[c] += table.backoff[m - 1][place * size + c];
    }
    return logs;
  });
}

/** @param {ArrayLike<number>} symbols @param {number} from @param {number} to @returns {number} */
function keyOf(symbols, from, to) {
  let key = 0;
  for (let i = from; i < to; i++) key = key * 512 + symbols[i];
  return key;
}

/**
 * Return the table of n-grams out of those of the longest order: shorter ones are their ends, and
 * contexts their beginnings.
 * @param {number} order
 * @param {number | null} limit
 * @param {Float64Array} keys sorted
 * @param {Float64Array} counts of every key and class
 * @param {number} size
 * @returns {LanguageTable}
 */
export function languageTable(order, limit, keys, counts, size) {
  /** @typedef {{ keys: Float64Array, counts: Float64Array, after: Float64Array, kinds: Float64Array }} Level */
  /** @type {Level[]} */
  const levels = new Array(order + 1);
  levels[order] = { keys, counts, after: new Float64Array(0), kinds: new Float64Array(0) };
  for (let m = order - 1; m >= 0; m--) {
    const above = levels[m + 1];
    const span = 512 ** m;
    /** @type {Map<number, number>} */
    const places = new Map();
    /** @param {number} key @returns {number} */
    const at = (key) => {
      let place = places.get(key);
      if (place === undefined) places.set(key, (place = places.size));
      return place;
    };
    const most = Math.max(1, 2 * above.keys.length);
    const [sums, after, kinds] = [0, 1, 2].map(() => new Float64Array(most * size));
    if (m === 0) at(0);
    for (let i = 0; i < above.keys.length; i++) {
      let seen = false;
      for (let c = 0; c < size; c++) seen = seen || above.counts[i * size + c] > 0;
      if (!seen) continue;
      const end = at(above.keys[i] % span) * size;
      const start = at(Math.floor(above.keys[i] / 512)) * size;
      for (let c = 0; c < size; c++) {
        const n = above.counts[i * size + c];
        if (n === 0) continue;
        sums[end + c] += n;
        after[start + c] += n;
        kinds[start + c] += 1;
      }
    }
    const many = places.size * size;
    levels[m] = {
      keys: Float64Array.from(places.keys()), counts: sums.slice(0, many),
      after: after.slice(0, many), kinds: kinds.slice(0, many),
    };
  }
  const indexes = levels.map((level) => {
    /** @type {Map<number, number>} */
    const index = new Map();
    level.keys.forEach((key, i) => index.set(key, i));
    return index;
  });
  /** @param {Level} level @param {number} at @returns {number} */
  const handed = (level, at) => {
    const [n, kinds] = [level.after[at], level.kinds[at]];
    return kinds > 0 ? Math.log(kinds / (n + kinds)) : 0;
  };
  let low = new Float64Array(size).fill(1 / SYMBOLS);
  /** @type {Float64Array[]} */
  const logs = [];
  /** @type {Float64Array[]} */
  const backoff = [];
  for (let m = 1; m <= order; m++) {
    const [below, level] = [levels[m - 1], levels[m]];
    const span = 512 ** (m - 1);
    const here = new Float64Array(level.keys.length * size);
    level.keys.forEach((key, i) => {
      const end = indexes[m - 1].get(key % span);
      const start = indexes[m - 1].get(Math.floor(key / 512));
      for (let c = 0; c < size; c++) {
        const shorter = end === undefined ? 0 : low[end * size + c];
        const kinds = start === undefined ? 0 : below.kinds[start * size + c];
        if (!(kinds > 0)) here[i * size + c] = shorter;
        else {
          const total = below.after[/** @type {number} */ (start) * size + c] + kinds;
          here[i * size + c] = (level.counts[i * size + c] + kinds * shorter) / total;
        }
      }
    });
    low = here.map((p) => Math.max(p, 2.2250738585072014e-308));
    logs.push(low.map(Math.log));
    if (m < order) backoff.push(level.counts.map((_, at) => handed(level, at)));
  }
  const bottom = Array.from({ length: size }, (_, c) => handed(levels[0], c) - Math.log(SYMBOLS));
  return { order, limit, places: indexes.slice(1), logs, backoff, bottom };
}

/**
 * Return log p(y | document), and the scores and lengths it is made of.
 * @param {TextModel} model
 * @param {string} text
 * @returns {{ logs: Vector, weights: Vector, terms: ReturnType<typeof termScores> | null,
 *   symbols: Vector[] | null, said: boolean }}
 */
export function textPosterior(model, text) {
  const size = model.logPriors.length;
  const terms = model.terms === null ? null : termScores(model.terms, text);
  const symbols = model.language === null ? null : symbolLogs(model.language, ENCODER.encode(text));
  /** @type {{ scores: Vector, length: number }[]} */
  const events = [];
  if (terms !== null) events.push(terms);
  if (symbols !== null) {
    const scores = model.logPriors.map((_, c) => symbols.reduce((sum, logs) => sum + logs[c], 0));
    events.push({ scores, length: symbols.length });
  }
  const total = model.logPriors.slice();
  const said = events.some((event) => event.length > 0);
  const weights = events.map((event, m) => {
    if (model.factors === null) return 1;
    return model.factors[m] / Math.sqrt(Math.max(event.length, 1));
  });
  events.forEach((event, m) => {
    const mean = model.factors === null ? 0 : event.scores.reduce((sum, s) => sum + s, 0) / size;
    for (let c = 0; c < size; c++) total[c] += weights[m] * (event.scores[c] - mean);
  });
  if (model.shifts !== null && said) for (let c = 0; c < size; c++) total[c] += model.shifts[c];
  return { logs: normalized(total), weights, terms, symbols, said };
}

/**
 * Return what the words of a document add to the log odds of two classes.
 * @param {TextModel} model
 * @param {string} text
 * @param {number} of
 * @param {number} against
 * @returns {{ baseline: number, parts: { name: string, value: number }[] }}
 */
export function textExplanation(model, text, of, against) {
  const found = textPosterior(model, text);
  let baseline = model.logPriors[of] - model.logPriors[against];
  if (model.shifts !== null && found.said) baseline += model.shifts[of] - model.shifts[against];
  /** @type {Map<string, number>} */
  const parts = new Map();
  /** @param {string} piece @param {number} value */
  const add = (piece, value) => {
    const word = piece.toLowerCase().replace(/^[.,;:()[\]{}<>"']+|[.,;:()[\]{}<>"']+$/g, "") || piece;
    parts.set(word, (parts.get(word) ?? 0) + value);
  };
  if (found.terms !== null) {
    baseline += found.weights[0] * (found.terms.silent[of] - found.terms.silent[against]);
    for (const part of found.terms.parts) {
      add(part.term, found.weights[0] * (part.scores[of] - part.scores[against]));
    }
  }
  if (found.symbols !== null) {
    const factor = found.weights[found.weights.length - 1];
    const odds = found.symbols.map((logs) => factor * (logs[of] - logs[against]));
    const bytes = ENCODER.encode(text).subarray(0, found.symbols.length);
    const decoder = new TextDecoder();
    let start = 0;
    const blank = new Set([9, 10, 11, 12, 13, 32]);
    while (start < bytes.length) {
      let end = start;
      while (end < bytes.length && blank.has(bytes[end])) end++;
      while (end < bytes.length && !blank.has(bytes[end])) end++;
      while (end < bytes.length && blank.has(bytes[end])) end++;
      const sum = odds.slice(start, end).reduce((total, odd) => total + odd, 0);
      add(decoder.decode(bytes.subarray(start, end)).trim() || "␣", sum);
      start = end;
    }
    if (odds.length > bytes.length) add("(the end)", odds.slice(bytes.length).reduce((a, b) => a + b, 0));
  }
  return { baseline, parts: [...parts].map(([name, value]) => ({ name, value })) };
}
