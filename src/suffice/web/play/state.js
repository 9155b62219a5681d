/**
 * What the playground shows, as an address: a link has all of it.
 * @module
 */

/** @typedef {import("./worlds.js").Point} Point */

/**
 * @typedef {object} State
 * @property {Point[]} points
 * @property {number} classes 2 to 4
 * @property {string} model
 * @property {boolean} both whether logistic regression stands beside it
 * @property {Record<string, boolean>} show
 * @property {[number, number]} probe
 * @property {[boolean, boolean]} hidden which cells of the probe are blank
 * @property {{ mean: [number, number], S: [number, number, number] }[] | null} pulled parameters
 *   that were pulled away from what was learned
 */

/** What can be shown, with what is shown at first. @type {Record<string, boolean>} */
export const SHOWN = { posterior: true, evidence: false, boundary: true, contours: true, none: false };
export const MODELS = ["shared", "per-class", "shared-diagonal", "naive-bayes", "spherical", "logistic", "perceptron", "mixture"];
/** Places of the plane are written in hundredths, from 0 on, with three letters of base 36. */
const UNIT = 100;
const OFFSET = 20000;
const MOST_POINTS = 5000;

/** @returns {State} */
export function emptyState() {
  return {
    points: [], classes: 2, model: "shared", both: false, show: { ...SHOWN }, probe: [0, 0],
    hidden: [false, false], pulled: null,
  };
}

/** @param {number} value @returns {string} */
function written(value) {
  const whole = Math.round(value * UNIT) + OFFSET;
  return Math.max(0, Math.min(46655, whole)).toString(36).padStart(3, "0");
}

/** @param {string} text @returns {number} */
function number(text) {
  return (parseInt(text, 36) - OFFSET) / UNIT;
}

/**
 * Return a value as it comes back from an address.
 * @param {number} value
 * @returns {number}
 */
export function rounded(value) {
  return number(written(value));
}

/**
 * Return the address of a state, from # on.
 * @param {State} state
 * @returns {string}
 */
export function addressOf(state) {
  const parts = [`m=${state.model}`, `k=${state.classes}`];
  if (state.both) parts.push("b=1");
  const flags = Object.keys(SHOWN).map((name) => (state.show[name] ? "1" : "0")).join("");
  if (flags !== Object.values(SHOWN).map((on) => (on ? "1" : "0")).join("")) parts.push(`s=${flags}`);
  if (state.probe[0] !== 0 || state.probe[1] !== 0) parts.push(`x=${state.probe.map(written).join("")}`);
  if (state.hidden.some(Boolean)) parts.push(`h=${state.hidden.map(Number).join("")}`);
  if (state.pulled !== null) {
    parts.push(`t=${state.pulled.map(({ mean, S }) => [...mean, ...S].map(written).join("")).join("")}`);
  }
  if (state.points.length > 0) {
    parts.push(`p=${state.points.map(({ x, y, c }) => `${c}${written(x)}${written(y)}`).join("")}`);
  }
  return `#${parts.join("&")}`;
}

/**
 * Return the state of an address; what is nonsense in it is told, and left out.
 * @param {string} address
 * @returns {{ state: State, problem: string | null }}
 */
export function stateOf(address) {
  const state = emptyState();
  /** @type {string[]} */
  const wrong = [];
  for (const part of address.replace(/^#/, "").split("&")) {
    if (part === "") continue;
    const [key, value = ""] = part.split("=", 2);
    if (key === "m" && MODELS.includes(value)) state.model = value;
    else if (key === "k" && /^[234]$/.test(value)) state.classes = Number(value);
    else if (key === "b" && value === "1") state.both = true;
    else if (key === "s" && /^[01]{5}$/.test(value)) {
      Object.keys(SHOWN).forEach((name, i) => (state.show[name] = value[i] === "1"));
    } else if (key === "x" && /^[0-9a-z]{6}$/.test(value)) {
      state.probe = [number(value.slice(0, 3)), number(value.slice(3))];
    } else if (key === "h" && /^[01]{2}$/.test(value)) {
      state.hidden = [value[0] === "1", value[1] === "1"];
    } else if (key === "t" && /^([0-9a-z]{15}){2,4}$/.test(value)) state.pulled = pulledFrom(value);
    else if (key === "p" && /^([0-3][0-9a-z]{6})+$/.test(value) && value.length <= 7 * MOST_POINTS) {
      state.points = (value.match(/.{7}/g) ?? []).map((one) => ({
        c: Number(one[0]), x: number(one.slice(1, 4)), y: number(one.slice(4)),
      }));
    } else wrong.push(part.slice(0, 30));
  }
  const highest = state.points.reduce((most, point) => Math.max(most, point.c), 0);
  state.classes = Math.max(state.classes, highest + 1);
  if (state.pulled !== null && (state.pulled.length !== state.classes || !state.pulled.every(sound))) {
    wrong.push("parameters that are not those of normal classes");
    state.pulled = null;
  }
  const told = wrong.length === 0 ? null
    : `The address holds something that is not understood and was left out: ${wrong.slice(0, 3).join(", ")}`;
  return { state, problem: told };
}

/** @param {string} text @returns {NonNullable<State["pulled"]>} */
function pulledFrom(text) {
  return (text.match(/.{15}/g) ?? []).map((one) => {
    const [a, b, c, d, e] = [0, 3, 6, 9, 12].map((at) => number(one.slice(at, at + 3)));
    return { mean: [a, b], S: [c, d, e] };
  });
}

/** @param {{ S: [number, number, number] }} law @returns {boolean} */
function sound({ S: [a, b, d] }) {
  return a > 0 && d > 0 && a * d - b * b > 0;
}

/**
 * Return a copy that shares nothing.
 * @param {State} state
 * @returns {State}
 */
export function copied(state) {
  return structuredClone(state);
}
