/**
 * The picture of a model: posterior as colour, evidence as shade, boundary, contours and points.
 * @module
 */

import { eigen2 } from "../engine/matrix.js";
import { edges, scoreAt } from "./fitting.js";
import { PointsLayer } from "./points_layer.js";
import { HIGH, WIDE } from "./worlds.js";

/** @typedef {import("./fitting.js").Fitted} Fitted */
/** @typedef {import("./state.js").State} State */
/** @typedef {[number, number, number]} Colour */

/** Cells of the field, in each direction. */
const COLUMNS = 120;
const LINES = 90;
/** Shares of a class that lie inside its ellipses. */
const INSIDE = [0.5, 0.95];

/** @param {string} hex @returns {Colour} */
export function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).reduce(
    (all, v, i) => { all[i] = v; return all; }, /** @type {Colour} */ ([0, 0, 0]));
}

/** A canvas on which a plane is drawn. */
export class Plane {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {string[]} colours of the classes
   */
  constructor(canvas, colours) {
    this.canvas = canvas;
    this.colours = colours;
    this.channels = colours.map(channels);
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.field = document.createElement("canvas");
    this.field.width = COLUMNS;
    this.field.height = LINES;
    this.fieldContext = /** @type {CanvasRenderingContext2D} */ (this.field.getContext("2d"));
    this.image = this.fieldContext.createImageData(COLUMNS, LINES);
    this.scores = colours.map(() => new Float64Array((COLUMNS + 1) * (LINES + 1)));
    this.winners = new Uint8Array((COLUMNS + 1) * (LINES + 1));
    this.layer = new PointsLayer(colours);
  }

  /** Make as many pixels as the screen has. */
  fit() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round((width * HIGH) / WIDE));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.ratio = width / Math.max(1, this.canvas.clientWidth);
  }

  /** @param {number} x @returns {number} */
  px(x) {
    return ((x + WIDE) / (2 * WIDE)) * this.canvas.width;
  }

  /** @param {number} y @returns {number} */
  py(y) {
    return ((HIGH - y) / (2 * HIGH)) * this.canvas.height;
  }

  /** @param {{ clientX: number, clientY: number }} event @returns {[number, number]} */
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [
      ((event.clientX - box.left) / box.width) * 2 * WIDE - WIDE,
      HIGH - ((event.clientY - box.top) / box.height) * 2 * HIGH,
    ];
  }

  /**
   * Draw everything.
   * @param {State} state
   * @param {Fitted | string} model or what is lacking
   * @param {{ paper: Colour, ink: string, responsibilities?: number[][] | null,
   *   current?: number, handles?: boolean }} look
   */
  draw(state, model, look) {
    this.fit();
    const { context, canvas } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = `rgb(${look.paper.join()})`;
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (typeof model !== "string") {
      if (state.show.posterior || state.show.evidence || state.show.none) this.drawField(state, model, look.paper);
      if (state.show.boundary) this.drawBoundary(model, look.ink);
      if (state.show.contours && model.normal !== null) this.drawEllipses(model, look.handles ?? false, look.paper);
    }
    this.drawPoints(state, look);
    this.drawProbe(state, look.ink);
  }

  /** @param {State} state @param {Fitted} model @param {Colour} paper */
  drawField(state, model, paper) {
    const { classes, scores, normal } = model;
    const data = this.image.data;
    const shade = state.show.evidence && normal !== null;
    const none = state.show.none && normal !== null;
    const limits = none ? edges(model) : [];
    let top = -Infinity;
    if (shade && normal !== null) {
      normal.law.frame.means.forEach(([x, y]) => {
        let sum = 0;
        for (let c = 0; c < classes; c++) sum += Math.exp(scoreAt(scores[c], x, y));
        top = Math.max(top, sum);
      });
    }
    const volumes = normal === null ? [] : normal.covariances.map((S, c) =>
      normal.logPriors[c] - Math.log(2 * Math.PI) - 0.5 * Math.log(S[0][0] * S[1][1] - S[0][1] * S[1][0]));
    const values = new Array(classes).fill(0);
    for (let j = 0, at = 0; j < LINES; j++) {
      const y = HIGH - ((j + 0.5) / LINES) * 2 * HIGH;
      for (let i = 0; i < COLUMNS; i++, at += 4) {
        const x = -WIDE + ((i + 0.5) / COLUMNS) * 2 * WIDE;
        let best = -Infinity;
        for (let c = 0; c < classes; c++) {
          values[c] = scoreAt(scores[c], x, y);
          if (values[c] > best) best = values[c];
        }
        let total = 0;
        let typical = !none;
        for (let c = 0; c < classes; c++) {
          if (none && -2 * (values[c] - volumes[c]) <= limits[c]) typical = true;
          values[c] = model.kind === "perceptron" ? Number(values[c] === best) : Math.exp(values[c] - best);
          total += values[c];
        }
        let [r, g, b] = [0, 0, 0];
        if (state.show.posterior) {
          for (let c = 0; c < classes; c++) {
            const share = values[c] / total;
            const own = this.channels[c];
            r += share * own[0];
            g += share * own[1];
            b += share * own[2];
          }
        } else r = g = b = 90;
        let strength = state.show.posterior ? 0.42 : 0;
        if (shade) strength = 0.85 * Math.sqrt(Math.min(1, (Math.exp(best) * total) / top));
        if (!typical) {
          // None of these: a grey that is in no class, in stripes.
          const stripe = (i + j) % 6 < 2 ? 0.28 : 0.12;
          [r, g, b, strength] = [128, 128, 128, stripe];
        }
        data[at] = paper[0] + strength * (r - paper[0]);
        data[at + 1] = paper[1] + strength * (g - paper[1]);
        data[at + 2] = paper[2] + strength * (b - paper[2]);
        data[at + 3] = 255;
      }
    }
    this.fieldContext.putImageData(this.image, 0, 0);
    this.context.imageSmoothingEnabled = true;
    this.context.drawImage(this.field, 0, 0, this.canvas.width, this.canvas.height);
  }

  /** @param {Fitted} model @param {string} ink */
  drawBoundary(model, ink) {
    const { classes, scores } = model;
    const { context } = this;
    const width = COLUMNS + 1;
    for (let c = 0; c < classes; c++) {
      const held = this.scores[c];
      for (let j = 0, at = 0; j <= LINES; j++) {
        const y = HIGH - (j / LINES) * 2 * HIGH;
        for (let i = 0; i <= COLUMNS; i++) held[at++] = scoreAt(scores[c], -WIDE + (i / COLUMNS) * 2 * WIDE, y);
      }
    }
    context.strokeStyle = ink;
    context.lineWidth = 2 * (this.ratio ?? 1);
    context.beginPath();
    const [sx, sy] = [this.canvas.width / COLUMNS, this.canvas.height / LINES];
    const { winners } = this;
    for (let at = 0; at < winners.length; at++) {
      let best = 0;
      for (let c = 1; c < classes; c++) if (this.scores[c][at] > this.scores[best][at]) best = c;
      winners[at] = best;
    }
    for (let j = 0; j < LINES; j++) {
      for (let i = 0; i < COLUMNS; i++) {
        const from = j * width + i;
        const first = winners[from];
        // Most cells belong to one class: for these nothing is allocated.
        if (winners[from + 1] === first && winners[from + width] === first && winners[from + width + 1] === first) continue;
        const corners = [from, from + 1, from + width + 1, from + width];
        const own = [...new Set(corners.map((at) => winners[at]))].sort((x, y) => x - y);
        own.forEach((a, order) => own.slice(order + 1).forEach((b) => {
          const gaps = corners.map((at) => this.scores[a][at] - this.scores[b][at]);
          /** @type {[number, number][]} */
          const cut = [];
          [[0, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0]].forEach(([x0, y0, x1, y1], e) => {
            const [g, h] = [gaps[e], gaps[(e + 1) % 4]];
            if (g > 0 === h > 0) return;
            const t = g / (g - h);
            cut.push([(i + x0 + t * (x1 - x0)) * sx, (j + y0 + t * (y1 - y0)) * sy]);
          });
          if (cut.length < 2) return;
          context.moveTo(...cut[0]);
          context.lineTo(...cut[1]);
        }));
      }
    }
    context.stroke();
  }

  /** @param {Fitted} model @param {boolean} handles @param {Colour} paper */
  drawEllipses(model, handles, paper) {
    const { context } = this;
    const { normal } = model;
    if (normal === null) return;
    const unit = this.canvas.width / (2 * WIDE);
    normal.covariances.forEach((S, c) => {
      if (!Number.isFinite(normal.logPriors[c])) return;
      const [mx, my] = normal.law.frame.means[c];
      const { values, vectors } = eigen2(S);
      const angle = Math.atan2(vectors[0][1], vectors[0][0]);
      INSIDE.forEach((inside, i) => {
        const reach = Math.sqrt(-2 * Math.log(1 - inside)) * unit;
        context.beginPath();
        context.ellipse(this.px(mx), this.py(my), reach * Math.sqrt(values[0]), reach * Math.sqrt(values[1]), -angle, 0, 2 * Math.PI);
        context.strokeStyle = this.colours[c];
        context.lineWidth = (i === 0 ? 2.5 : 1.5) * (this.ratio ?? 1);
        context.stroke();
      });
      const size = (handles ? 8 : 5) * (this.ratio ?? 1);
      /** @type {[number, number][]} */
      const marks = [[mx, my]];
      if (handles) marks.push(...axisEnds(S, [mx, my]));
      marks.forEach(([x, y], i) => {
        context.beginPath();
        if (i === 0) context.arc(this.px(x), this.py(y), size, 0, 2 * Math.PI);
        else context.rect(this.px(x) - size * 0.75, this.py(y) - size * 0.75, 1.5 * size, 1.5 * size);
        context.fillStyle = `rgb(${paper.join()})`;
        context.fill();
        context.lineWidth = 3 * (this.ratio ?? 1);
        context.stroke();
      });
    });
  }

  /** @param {State} state @param {{ ink: string, paper: Colour, responsibilities?: number[][] | null, current?: number }} look */
  drawPoints(state, look) {
    const { context } = this;
    const many = state.points.length;
    const size = (many < 300 ? 5.5 : many < 1000 ? 4 : 2.8) * (this.ratio ?? 1);
    const line = (many < 1000 ? 1.2 : 0.7) * (this.ratio ?? 1);
    const rim = `rgb(${look.paper.join()})`;
    const { responsibilities } = look;
    if (responsibilities === null || responsibilities === undefined) {
      this.layer.draw(context, state.points, { size, line, rim, px: (x) => this.px(x), py: (y) => this.py(y) });
    } else {
      context.lineWidth = line;
      context.strokeStyle = rim;
      state.points.forEach((point, i) => {
        const shares = responsibilities[i];
        const mix = [0, 1, 2].map((k) => Math.round(shares.reduce((sum, p, c) => sum + p * this.channels[c][k], 0)));
        const path = new Path2D();
        path.arc(this.px(point.x), this.py(point.y), size, 0, 2 * Math.PI);
        context.fillStyle = `rgb(${mix.join()})`;
        context.fill(path);
        context.stroke(path);
      });
    }
    if (look.current !== undefined && look.current >= 0 && state.points[look.current] !== undefined) {
      const { x, y } = state.points[look.current];
      context.beginPath();
      context.arc(this.px(x), this.py(y), 2 * size, 0, 2 * Math.PI);
      context.strokeStyle = look.ink;
      context.lineWidth = 2 * (this.ratio ?? 1);
      context.stroke();
    }
  }

  /** @param {State} state @param {string} ink */
  drawProbe(state, ink) {
    const { context } = this;
    const [x, y] = [this.px(state.probe[0]), this.py(state.probe[1])];
    const arm = 9 * (this.ratio ?? 1);
    context.strokeStyle = ink;
    context.lineWidth = 1.5 * (this.ratio ?? 1);
    context.setLineDash(state.hidden.some(Boolean) ? [6, 5] : []);
    context.beginPath();
    // A cell that is blank may be anywhere: the place becomes a line, or the whole plane.
    const [left, right] = state.hidden[0] ? [0, this.canvas.width] : [x - arm, x + arm];
    const [up, down] = state.hidden[1] ? [0, this.canvas.height] : [y - arm, y + arm];
    context.moveTo(left, y);
    context.lineTo(right, y);
    context.moveTo(x, up);
    context.lineTo(x, down);
    context.stroke();
    context.setLineDash([]);
  }
}

/**
 * Return where the axes of an ellipse end, at one standard deviation.
 * @param {number[][]} S
 * @param {[number, number]} mean
 * @returns {[number, number][]}
 */
export function axisEnds(S, mean) {
  const { values, vectors } = eigen2(S);
  return vectors.map((v, i) => [mean[0] + Math.sqrt(values[i]) * v[0], mean[1] + Math.sqrt(values[i]) * v[1]]);
}
