/**
 * The playground: state, controls, and what is drawn when.
 * @module
 */

import { Moments } from "../engine/moments.js";
import { Random } from "../engine/random.js";
import { byId, el, short } from "../pages/dom.js";
import { drawCurves, leastError, learningCurves } from "./curves.js";
import { exercises } from "./exercises.js";
import { fitted } from "./fitting.js";
import { MixtureRun, PerceptronRun } from "./learning.js";
import { startOwnTable } from "./own_table.js";
import { LETTERS, MEANINGS, showLearned, showProbe, showTheta } from "./panels.js";
import { channels, Plane } from "./plane.js";
import { roving, startPointer } from "./pointer.js";
import { addressOf, copied, emptyState, MODELS, rounded, SHOWN, stateOf } from "./state.js";
import { drawn, WORLDS, worldNamed } from "./worlds.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./fitting.js").Fitted} Fitted */

const TOOLS = { paint: "Paint", move: "Drag", erase: "Erase", pull: "Pull", cross: "Cross" };
/** @type {Record<string, string>} */
const SHOW_WORDS = { posterior: "posterior as colour", evidence: "evidence p(x) as shade", boundary: "boundary", contours: "ellipses (50, 95 %)", none: "none of these" };
const MOST_DRAWN = 2000;
const MOST_UNDONE = 200;
const REPETITIONS = 24;

/** Everything on the page. */
class Playground {
  /** @param {string[]} colours */
  constructor(colours) {
    this.colours = colours;
    this.plane = new Plane(byId("plane"), colours);
    this.other = new Plane(byId("other"), colours);
    this.state = emptyState();
    /** @type {State[]} */
    this.past = [];
    /** @type {State[]} */
    this.future = [];
    this.paper = channels("#ffffff");
    this.ink = "#000000";
    this.tool = "paint";
    this.current = 0;
    /** @type {Fitted | string} */
    this.model = "";
    /** @type {PerceptronRun | MixtureRun | null} */
    this.run = null;
    this.running = false;
    this.seed = 1;
    this.frames = { work: /** @type {number[]} */ ([]) };
    this.waiting = false;
    this.quick = false;
    this.address = "";
    /** @type {number[][] | null} */
    this.near = null;
    this.curveRun = 0;
    /** @type {import("./curves.js").Size[]} */
    this.sizes = [];
  }

  // What is on the screen

  readSheet() {
    const sheet = getComputedStyle(document.documentElement);
    this.paper = channels(sheet.getPropertyValue("--canvas").trim());
    this.ink = sheet.getPropertyValue("--ink").trim();
  }

  /** Draw when the screen is ready; `quick` leaves out what a gesture can do without. */
  ask(quick = false) {
    this.quick = quick;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const start = performance.now();
      this.show();
      this.frames.work.push(performance.now() - start);
      if (this.frames.work.length > 600) this.frames.work.shift();
    });
  }

  show() {
    const { state } = this;
    if (!this.quick) this.near = null;
    const steps = state.model === "perceptron" || state.model === "mixture";
    if (steps) this.model = this.learned();
    else {
      this.run = null;
      this.model = fitted(state, state.model, this.near);
    }
    const logistic = state.both || !this.quick ? fitted({ ...state, pulled: null }, "logistic", this.near) : "";
    // While one drags, the last θ is nearly the next one.
    const last = typeof logistic === "string" ? null : logistic.theta;
    this.near = last !== null && last.flat().every((w) => Math.abs(w) < 50) ? last : null;
    // Asking for styles is asking for all that is due of them: not while one drags.
    if (!this.quick) this.readSheet();
    const { paper, ink } = this;
    const responsibilities = this.run?.responsibilities() ?? null;
    // First the room, then the pictures: a canvas has as many pixels as it is wide.
    byId("second").hidden = !state.both;
    byId("planes").classList.toggle("two", state.both);
    this.plane.draw(state, this.model, {
      paper, ink, responsibilities, current: this.run?.at ?? -1, handles: this.tool === "pull",
    });
    if (state.both) this.other.draw(state, logistic, { paper, ink });
    showProbe(state, this.model, this.colours);
    if (this.quick) return;
    showLearned(state, this.model, this.colours);
    const implied = state.model === "shared" && state.pulled === null ? this.model : fitted({ ...state, pulled: null }, "shared");
    showTheta(implied, logistic);
    this.showControls(steps);
  }

  /** @param {boolean} steps */
  showControls(steps) {
    const { state } = this;
    /** @type {HTMLSelectElement} */ (byId("model")).value = state.model;
    byId("meaning").textContent = MEANINGS[state.model][1];
    byId("first-name").textContent = MEANINGS[state.model][0];
    byId("told").textContent = typeof this.model === "string" ? this.model : "";
    /** @type {HTMLInputElement} */ (byId("both")).checked = state.both;
    for (const name of Object.keys(SHOWN)) /** @type {HTMLInputElement} */ (byId(`show-${name}`)).checked = state.show[name];
    state.hidden.forEach((hidden, j) => (/** @type {HTMLInputElement} */ (byId(`hide-${j}`)).checked = hidden));
    byId("steps").hidden = !steps;
    byId("progress").textContent = this.run?.told() ?? "";
    byId("run").setAttribute("aria-pressed", String(this.running));
    byId("run").textContent = this.running ? "Stop" : "Run";
    byId("refit-part").hidden = state.pulled === null;
    /** @type {HTMLButtonElement} */ (byId("undo")).disabled = this.past.length === 0;
    /** @type {HTMLButtonElement} */ (byId("redo")).disabled = this.future.length === 0;
    /** @type {HTMLButtonElement} */ (byId("fewer")).disabled = state.classes <= 2;
    /** @type {HTMLButtonElement} */ (byId("more")).disabled = state.classes >= 4;
    const generative = typeof this.model !== "string" && this.model.normal !== null;
    /** @type {HTMLButtonElement} */ (byId("sample")).disabled = !generative;
    this.showChips();
    for (const button of byId("tools").children) this.check(button, button.id === `tool-${this.tool}`);
  }

  showChips() {
    const place = byId("chips");
    if (place.children.length !== this.state.classes) {
      place.replaceChildren(...Array.from({ length: this.state.classes }, (_, c) => {
        const dot = el("span", { class: "chip", "aria-hidden": "true" });
        dot.style.backgroundColor = this.colours[c];
        return el("button", { type: "button", role: "radio", id: `class-${c}`, "aria-label": `Class ${LETTERS[c]}`, click: () => this.choose(c) }, dot, LETTERS[c]);
      }));
    }
    for (const button of place.children) this.check(button, button.id === `class-${this.current}`);
  }

  /** @param {Element} button @param {boolean} on */
  check(button, on) {
    button.setAttribute("aria-checked", String(on));
    /** @type {HTMLElement} */ (button).tabIndex = on ? 0 : -1;
  }

  /** @param {number} c */
  choose(c) {
    if (c >= this.state.classes) return;
    this.current = c;
    this.ask();
  }

  /** @returns {Fitted | string} of a model that learns step by step */
  learned() {
    const { state } = this;
    const counts = new Set(state.points.map(({ c }) => c));
    if (state.points.length < 2 * state.classes || (state.model === "perceptron" && counts.size < 2)) {
      this.run = null;
      return "Paint some more points first.";
    }
    this.run ??= state.model === "perceptron" ? new PerceptronRun(state) : new MixtureRun(state, this.seed);
    return this.run.fitted();
  }

  // Changes

  /** @param {State} state */
  live(state) {
    this.state = state;
    this.run = null;
    this.ask(true);
  }

  /**
   * Remember a change: it can be undone, and the address has it.
   * @param {State} state
   */
  settle(state) {
    state.points = state.points.map(({ x, y, c }) => ({ x: rounded(x), y: rounded(y), c }));
    state.probe = [rounded(state.probe[0]), rounded(state.probe[1])];
    const address = addressOf(state);
    if (address === this.address) {
      this.state = state;
      this.ask();
      return;
    }
    this.past.push(stateOf(this.address).state);
    if (this.past.length > MOST_UNDONE) this.past.shift();
    this.future = [];
    this.put(state);
  }

  /** @param {State} state */
  put(state) {
    const moved = JSON.stringify([this.state.points, this.state.model, this.state.classes]) !== JSON.stringify([state.points, state.model, state.classes]);
    if (moved || this.run === null) this.stop();
    if (moved) this.run = null;
    this.state = state;
    this.address = addressOf(state);
    this.current = Math.min(this.current, state.classes - 1);
    if (location.hash !== this.address) location.hash = this.address;
    this.ask();
  }

  /** @param {(state: State) => void} change */
  change(change) {
    const state = copied(this.state);
    change(state);
    this.settle(state);
  }

  /** @param {State[]} from @param {State[]} to */
  travel(from, to) {
    const state = from.pop();
    if (state === undefined) return;
    to.push(copied(this.state));
    this.put(state);
  }

  /** Read the address: a link, or the back button. */
  read() {
    if (location.hash === this.address) return;
    const { state, problem } = stateOf(location.hash);
    this.stop();
    this.run = null;
    this.state = state;
    this.address = location.hash;
    this.current = Math.min(this.current, state.classes - 1);
    byId("broken").hidden = problem === null;
    byId("broken").textContent = problem === null ? "" : `${problem}.`;
    this.ask();
  }

  /** @param {number} place of a point that goes: what its class forgets */
  forgotten(place) {
    const { x, y, c } = this.state.points[place] ?? { x: 0, y: 0, c: 0 };
    if (typeof this.model === "string" || this.model.moments[c] === undefined) return;
    const before = this.model.moments[c];
    const left = before.minus(Moments.of([[x, y]], 2));
    byId("forgotten").textContent = `Forgotten: (${short(x)}, ${short(y)}) of ${LETTERS[c]}. Its sums: n ${before.weight} → ${left.weight}, ` +
      `mean (${before.mean.map(short).join(", ")}) → (${left.mean.map(short).join(", ")}), S₁₁ ${short(before.scatter[0][0])} → ${short(left.scatter[0][0])}. No row was read again.`;
  }

  // Learning step by step

  stop() {
    this.running = false;
  }

  step() {
    if (this.run === null || this.run.done) return this.stop();
    this.run.step();
    this.ask();
    if (this.running) setTimeout(() => this.running && this.step(), 60);
  }

  // Controls

  start() {
    byId("tools").append(...Object.entries(TOOLS).map(([name, words]) =>
      el("button", { type: "button", role: "radio", id: `tool-${name}`, click: () => {
        this.tool = name;
        this.ask();
      } }, words)));
    byId("model").append(...MODELS.map((name) => el("option", { value: name }, MEANINGS[name][0])));
    byId("shows").append(...Object.keys(SHOWN).map((name) => el("label", { class: "check" },
      el("input", { type: "checkbox", id: `show-${name}`, change: (event) => this.change((state) => (state.show[name] = event.target.checked)) }), SHOW_WORDS[name])));
    byId("world").append(...WORLDS.map((world) => el("option", { value: world.name, title: world.told }, world.name)));
    byId("curve-world").append(...WORLDS.map((world) => el("option", { value: world.name }, `${world.name}: ${world.told}`)));
    for (const id of ["tools", "chips"]) byId(id).addEventListener("keydown", roving);
    byId("model").addEventListener("change", (event) => this.change((state) => {
      state.model = /** @type {HTMLSelectElement} */ (event.target).value;
      state.pulled = null;
    }));
    byId("both").addEventListener("change", (event) => this.change((state) => (state.both = /** @type {HTMLInputElement} */ (event.target).checked)));
    [0, 1].forEach((j) => byId(`hide-${j}`).addEventListener("change", (event) => this.change((state) => (state.hidden[j] = /** @type {HTMLInputElement} */ (event.target).checked))));
    const click = (/** @type {string} */ id, /** @type {() => void} */ work) => byId(id).addEventListener("click", work);
    click("undo", () => this.travel(this.past, this.future));
    click("redo", () => this.travel(this.future, this.past));
    click("clear", () => this.change((state) => Object.assign(state, { points: [], pulled: null })));
    click("more", () => this.change((state) => Object.assign(state, { classes: Math.min(4, state.classes + 1), pulled: null })));
    click("fewer", () => this.change((state) => {
      state.classes = Math.max(2, state.classes - 1);
      state.points = state.points.filter(({ c }) => c < state.classes);
      state.pulled = null;
    }));
    click("refit", () => this.change((state) => (state.pulled = null)));
    click("step", () => this.step());
    click("run", () => {
      this.running = !this.running;
      if (this.running) this.step();
      else this.ask();
    });
    click("again", () => {
      this.stop();
      this.run = null;
      this.seed += 1;
      this.ask();
    });
    click("sample", () => this.sample());
    click("draw-world", () => this.change((state) => {
      const world = worldNamed(/** @type {HTMLSelectElement} */ (byId("world")).value);
      state.points = drawn(world, this.many(), state.classes, new Random(this.seed++));
      state.pulled = null;
    }));
    click("curve-run", () => this.curves());
    startOwnTable((points, classes) => this.change((state) => Object.assign(state, { points, classes, pulled: null })));
    startPointer(this.plane, {
      state: () => this.state, model: () => this.model, tool: () => this.tool, current: () => this.current,
      choose: (c) => this.choose(c), live: (state) => this.live(state), settle: (state) => this.settle(state),
      forgotten: (place) => this.forgotten(place),
    });
    window.addEventListener("hashchange", () => this.read());
    window.addEventListener("resize", () => this.ask());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.ask());
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      if (event.target instanceof HTMLInputElement && event.target.type === "text") return;
      event.preventDefault();
      if (event.shiftKey) this.travel(this.future, this.past);
      else this.travel(this.past, this.future);
    });
    [["gda", 0], ["logistic", 4]].forEach(([name, c]) => {
      const key = /** @type {HTMLElement} */ (document.querySelector(`.key.${name}`));
      key.style.backgroundColor = this.colours[Number(c)];
    });
    const list = exercises();
    byId("exercises").append(...list.map(({ title, question, address }) => el("li", {}, el("a", { href: address, click: () => scrollTo({ top: 0 }) }, title), `: ${question}`)));
    byId("page").hidden = false;
    if (location.hash.length > 1) this.read();
    else this.put(stateOf(list[0].address).state);
  }

  /** @returns {number} */
  many() {
    const input = /** @type {HTMLInputElement} */ (byId("many"));
    const asked = Math.round(Number(input.value));
    const found = Number.isFinite(asked) && asked >= 2 ? Math.min(asked, MOST_DRAWN) : 60;
    input.value = String(found);
    return found;
  }

  sample() {
    const { model } = this;
    if (typeof model === "string" || model.normal === null) return;
    const { normal } = model;
    this.change((state) => {
      const random = new Random(this.seed++);
      state.points = Array.from({ length: this.many() }, () => {
        const c = random.choice(normal.logPriors.map(Math.exp));
        const [x, y] = normal.law.sample(c, random);
        return { x, y, c };
      });
    });
  }

  curves() {
    const world = worldNamed(/** @type {HTMLSelectElement} */ (byId("curve-world")).value);
    const own = (this.curveRun += 1);
    const least = leastError(world);
    const work = learningCurves(world, REPETITIONS, 1);
    const told = byId("curve-told");
    let done = 0;
    const next = () => {
      if (own !== this.curveRun) return;
      const start = performance.now();
      let found;
      do {
        found = work.next();
        if (found.value) this.sizes = found.value;
        done += found.done ? 0 : 1;
      } while (!found.done && performance.now() - start < 12);
      drawCurves(/** @type {any} */ (byId("curves")), this.sizes, least, [this.colours[0], this.colours[4]]);
      told.textContent = found.done ? `${REPETITIONS} repetitions; ${world.told}.` : `${Math.floor(done / 11)} of ${REPETITIONS} repetitions …`;
      if (!found.done) setTimeout(next);
    };
    next();
  }
}

const { colours } = JSON.parse(byId("palette").textContent ?? "{}");
const playground = new Playground(colours);
playground.start();
// What a program that drives the page may ask.
Object.assign(window, { playground });
