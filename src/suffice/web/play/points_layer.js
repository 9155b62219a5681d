/**
 * Points as a picture of their own: while one of them is dragged, the others are not drawn again.
 * @module
 */

/** @typedef {import("./worlds.js").Point} Point */

/**
 * How points look.
 * @typedef {object} Marks
 * @property {number} size of a point, in pixels
 * @property {number} line the width of its rim
 * @property {string} rim the colour of its rim
 * @property {(x: number) => number} px
 * @property {(y: number) => number} py
 */

/** Points on a transparent canvas, but for one that moves. */
export class PointsLayer {
  /** @param {string[]} colours of the classes */
  constructor(colours) {
    this.colours = colours;
    this.canvas = document.createElement("canvas");
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.look = "";
    this.count = 0;
    this.xs = new Float64Array(0);
    this.ys = new Float64Array(0);
    this.codes = new Uint8Array(0);
    /** The point that moves, which the layer does not have; -1: it has all. */
    this.out = -1;
  }

  /**
   * Draw all points.
   * @param {CanvasRenderingContext2D} context
   * @param {Point[]} points
   * @param {Marks} marks
   */
  draw(context, points, marks) {
    const { width, height } = context.canvas;
    const look = `${width} ${height} ${marks.size} ${marks.line} ${marks.rim}`;
    const changed = look === this.look ? this.changed(points) : null;
    if (changed === -1) this.add(points, marks);
    else {
      this.out = changed ?? -1;
      this.look = look;
      this.clear(width, height, points.length);
      this.add(points, marks);
    }
    context.drawImage(this.canvas, 0, 0);
    if (this.out >= 0) drawMarks(context, [points[this.out]], this.colours, marks);
  }

  /**
   * @param {Point[]} points
   * @returns {number | null} the one point that is not where the layer has it, -1 if there is none,
   *   null if there are several
   */
  changed(points) {
    const { xs, ys, codes, count, out } = this;
    if (points.length < count) return null;
    let found = -1;
    for (let i = 0; i < count; i++) {
      const point = points[i];
      if (i === out || (point.x === xs[i] && point.y === ys[i] && point.c === codes[i])) continue;
      if (found >= 0) return null;
      found = i;
    }
    return found;
  }

  /** @param {number} width @param {number} height @param {number} room */
  clear(width, height, room) {
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    } else this.context.clearRect(0, 0, width, height);
    this.count = 0;
    this.grow(room);
  }

  /** @param {number} room for how many points; more than asked for, so that painting seldom grows it */
  grow(room) {
    if (room <= this.xs.length) return;
    const [xs, ys, codes] = [this.xs, this.ys, this.codes];
    this.xs = new Float64Array(2 * room);
    this.ys = new Float64Array(2 * room);
    this.codes = new Uint8Array(2 * room);
    this.xs.set(xs);
    this.ys.set(ys);
    this.codes.set(codes);
  }

  /** @param {Point[]} points of which the layer has the first ones @param {Marks} marks */
  add(points, marks) {
    if (points.length === this.count) return;
    this.grow(points.length);
    const fresh = [];
    for (let i = this.count; i < points.length; i++) {
      const { x, y, c } = points[i];
      this.xs[i] = x;
      this.ys[i] = y;
      this.codes[i] = c;
      if (i !== this.out) fresh.push(points[i]);
    }
    this.count = points.length;
    drawMarks(this.context, fresh, this.colours, marks);
  }
}

/**
 * @param {CanvasRenderingContext2D} context @param {Point[]} points @param {string[]} colours
 * @param {Marks} marks
 */
function drawMarks(context, points, colours, marks) {
  context.lineWidth = marks.line;
  context.strokeStyle = marks.rim;
  for (let c = 0; c < colours.length; c++) {
    const path = new Path2D();
    let some = false;
    for (const point of points) {
      if (point.c !== c) continue;
      shape(path, marks.px(point.x), marks.py(point.y), marks.size, c);
      some = true;
    }
    if (!some) continue;
    context.fillStyle = colours[c];
    context.fill(path);
    context.stroke(path);
  }
}

/** @param {Path2D} path @param {number} x @param {number} y @param {number} r @param {number} c */
function shape(path, x, y, r, c) {
  const kind = c % 4;
  if (kind === 0) {
    path.moveTo(x + r, y);
    path.arc(x, y, r, 0, 2 * Math.PI);
  } else if (kind === 1) {
    path.moveTo(x, y - 1.2 * r);
    path.lineTo(x + 1.1 * r, y + 0.8 * r);
    path.lineTo(x - 1.1 * r, y + 0.8 * r);
    path.closePath();
  } else if (kind === 2) path.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
  else {
    path.moveTo(x, y - 1.25 * r);
    path.lineTo(x + 1.25 * r, y);
    path.lineTo(x, y + 1.25 * r);
    path.lineTo(x - 1.25 * r, y);
    path.closePath();
  }
}
