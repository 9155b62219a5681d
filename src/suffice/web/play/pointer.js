/**
 * What pointer and keys do on the plane: paint, drag, erase, pull, and move the cross.
 * @module
 */

import { eigen2 } from "../engine/matrix.js";
import { axisEnds } from "./plane.js";
import { HIGH, WIDE } from "./worlds.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./plane.js").Plane} Plane */
/** @typedef {import("./fitting.js").Fitted} Fitted */

/** How near, in parts of the plane, a pointer has to be. */
const NEAR = 0.3;
/** How far apart points are painted. */
const APART = 0.22;

/**
 * What a gesture asks of the playground.
 * @typedef {object} Bench
 * @property {() => State} state
 * @property {() => Fitted | string} model
 * @property {() => string} tool
 * @property {() => number} current the class that is painted
 * @property {(c: number) => void} choose
 * @property {(state: State) => void} live draw, but remember nothing yet
 * @property {(state: State) => void} settle remember
 * @property {(place: number) => void} forgotten tell of a point that goes
 */

/** @param {State} state @param {[number, number]} at @returns {number} the nearest point, or -1 */
export function nearest(state, [x, y]) {
  let [found, least] = [-1, NEAR * NEAR];
  state.points.forEach((point, i) => {
    const away = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (away < least) [found, least] = [i, away];
  });
  return found;
}

/** @param {[number, number]} place @returns {[number, number]} a place inside of the plane */
export function inside([x, y]) {
  return [Math.max(-WIDE, Math.min(WIDE, x)), Math.max(-HIGH, Math.min(HIGH, y))];
}

/**
 * Return the parameters of a model as they can be pulled.
 * @param {Fitted} model
 * @returns {NonNullable<State["pulled"]>}
 */
export function parameters(model) {
  const { normal } = model;
  if (normal === null) return [];
  return normal.covariances.map((S, c) => ({
    mean: /** @type {[number, number]} */ (normal.law.frame.means[c].slice()),
    S: /** @type {[number, number, number]} */ ([S[0][0], S[0][1], S[1][1]]),
  }));
}

/**
 * Let the plane be worked on.
 * @param {Plane} plane
 * @param {Bench} bench
 */
export function startPointer(plane, bench) {
  const { canvas } = plane;
  /** @type {((place: [number, number]) => void) | null} */
  let move = null;
  /** @type {State | null} */
  let after = null;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    const at = inside(plane.place(event));
    after = structuredClone(bench.state());
    move = gesture(bench.tool(), at, after, bench);
    move?.(at);
    if (move !== null) bench.live(after);
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (move === null || after === null) return;
    move(inside(plane.place(event)));
    bench.live(after);
  });
  const end = () => {
    if (move !== null && after !== null) bench.settle(after);
    move = after = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  /** @type {Held | null} */
  let held = null;
  canvas.addEventListener("keydown", (event) => (held = keys(event, bench, held)));
  canvas.addEventListener("blur", () => {
    if (held !== null) bench.settle(held.state);
    held = null;
  });
}

/**
 * @param {string} tool
 * @param {[number, number]} start
 * @param {State} state
 * @param {Bench} bench
 * @returns {((place: [number, number]) => void) | null}
 */
function gesture(tool, start, state, bench) {
  if (tool === "paint") {
    /** @type {[number, number] | null} */
    let last = null;
    return ([x, y]) => {
      if (last !== null && Math.hypot(x - last[0], y - last[1]) < APART) return;
      last = [x, y];
      state.points.push({ x, y, c: bench.current() });
    };
  }
  if (tool === "erase") {
    return (place) => {
      const found = nearest(state, place);
      if (found < 0) return;
      bench.forgotten(found);
      state.points.splice(found, 1);
    };
  }
  if (tool === "move") {
    const found = nearest(state, start);
    if (found < 0) return null;
    return ([x, y]) => Object.assign(state.points[found], { x, y });
  }
  if (tool === "pull") return pull(start, state, bench);
  return (place) => {
    state.probe = place;
  };
}

/** @param {[number, number]} start @param {State} state @param {Bench} bench @returns {((place: [number, number]) => void) | null} */
function pull(start, state, bench) {
  const model = bench.model();
  if (typeof model === "string" || model.normal === null || model.kind === "mixture") return null;
  const laws = state.pulled ?? parameters(model);
  const shared = state.model.startsWith("shared");
  /** @type {{ c: number, which: number, away: number } | null} */
  let best = null;
  laws.forEach(({ mean, S: [a, b, d] }, c) => {
    [mean, ...axisEnds([[a, b], [b, d]], mean)].forEach(([x, y], which) => {
      const away = Math.hypot(x - start[0], y - start[1]);
      if (away < NEAR && (best === null || away < best.away)) best = { c, which, away };
    });
  });
  const chosen = /** @type {{ c: number, which: number } | null} */ (best);
  if (chosen === null) return null;
  const law = laws[chosen.c];
  const [a, b, d] = law.S;
  const { values, vectors } = eigen2([[a, b], [b, d]]);
  return ([x, y]) => {
    state.pulled = laws;
    if (chosen.which === 0) {
      law.mean = [x, y];
      return;
    }
    // The end of an axis says how long it is, and where it points; the other one keeps its length.
    const along = chosen.which - 1;
    const [dx, dy] = [x - law.mean[0], y - law.mean[1]];
    const reach = Math.max(0.15, Math.hypot(dx, dy));
    const turns = state.model === "shared" || state.model === "per-class";
    let axis = turns && Math.hypot(dx, dy) > 1e-6 ? [dx / Math.hypot(dx, dy), dy / Math.hypot(dx, dy)] : vectors[along];
    if (!turns) axis = Math.abs(vectors[along][0]) > Math.abs(vectors[along][1]) ? [1, 0] : [0, 1];
    const [own, other] = [reach * reach, state.model === "spherical" ? reach * reach : Math.max(values[1 - along], 0.02)];
    const [p, q] = axis;
    /** @type {[number, number, number]} */
    const S = [own * p * p + other * q * q, (own - other) * p * q, own * q * q + other * p * p];
    (shared ? laws : [law]).forEach((one) => (one.S = /** @type {[number, number, number]} */ ([...S])));
  };
}

/**
 * A point or a handle that keys have taken: arrows move it with the cross until it is let go.
 * @typedef {{ move: (place: [number, number]) => void, state: State }} Held
 */

/**
 * @param {KeyboardEvent} event
 * @param {Bench} bench
 * @param {Held | null} held
 * @returns {Held | null} what is held after the key
 */
function keys(event, bench, held) {
  if (event.ctrlKey || event.metaKey || event.altKey) return held;
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const step = steps[/** @type {keyof typeof steps} */ (event.key)];
  const state = held?.state ?? structuredClone(bench.state());
  if (step !== undefined) {
    const size = event.shiftKey ? 1 : 0.1;
    state.probe = inside([state.probe[0] + size * step[0], state.probe[1] + size * step[1]]);
    event.preventDefault();
    if (held === null) bench.settle(state);
    else {
      held.move(state.probe);
      bench.live(state);
    }
    return held;
  }
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    if (held !== null) {
      bench.settle(held.state);
      return null;
    }
    return act(state, bench);
  }
  if (event.key === "Delete" || event.key === "Backspace") {
    event.preventDefault();
    if (held === null) erase(state, bench);
  } else if (/^[1-4]$/.test(event.key)) {
    bench.choose(Number(event.key) - 1);
    event.preventDefault();
  }
  return held;
}

/**
 * Do what the tool does, at the cross. What is too far away to be taken is gone to first.
 * @param {State} state
 * @param {Bench} bench
 * @returns {Held | null}
 */
function act(state, bench) {
  const tool = bench.tool();
  if (tool === "move" || tool === "pull") {
    const move = gesture(tool, state.probe, state, bench);
    if (move !== null) return { move, state };
    const near = closest(tool === "move" ? state.points.map(({ x, y }) => [x, y]) : handles(bench.model()), state.probe);
    if (near !== null) state.probe = near;
    bench.settle(state);
  } else if (tool === "erase") erase(state, bench);
  else if (tool === "paint") {
    state.points.push({ x: state.probe[0], y: state.probe[1], c: bench.current() });
    bench.settle(state);
  }
  return null;
}

/** @param {State} state @param {Bench} bench */
function erase(state, bench) {
  const found = nearest(state, state.probe);
  if (found < 0) return;
  bench.forgotten(found);
  state.points.splice(found, 1);
  bench.settle(state);
}

/** @param {Fitted | string} model @returns {[number, number][]} what of it can be pulled */
function handles(model) {
  if (typeof model === "string" || model.kind === "mixture") return [];
  return parameters(model).flatMap(({ mean, S: [a, b, d] }) => [mean, ...axisEnds([[a, b], [b, d]], mean)]);
}

/** @param {number[][]} places @param {[number, number]} at @returns {[number, number] | null} */
function closest(places, at) {
  const away = places.map(([x, y]) => Math.hypot(x - at[0], y - at[1]));
  return places.length === 0 ? null : inside(/** @type {[number, number]} */ (places[away.indexOf(Math.min(...away))]));
}

/**
 * Arrow keys go through a group of radio buttons.
 * @param {KeyboardEvent} event
 */
export function roving(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const every = [.../** @type {HTMLElement} */ (event.currentTarget).children];
  const next = /** @type {HTMLElement} */ (every[(every.indexOf(/** @type {Element} */ (event.target)) + step + every.length) % every.length]);
  next.focus();
  next.click();
  event.preventDefault();
}
