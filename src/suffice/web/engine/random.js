/**
 * Random numbers that a seed decides: the same on every machine.
 * @module
 */

/**
 * A generator of random numbers: sfc32, by Chris Doty-Humphrey.
 */
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.a = 0x9e3779b9 ^ seed;
    this.b = 0x243f6a88 ^ Math.floor(seed / 4294967296);
    this.c = 0xb7e15162;
    this.counter = 1;
    /** @type {number | null} */
    this.spare = null;
    for (let i = 0; i < 15; i++) this.bits();
  }

  /** @returns {number} 32 random bits */
  bits() {
    const t = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + t) | 0;
    return t >>> 0;
  }

  /** @returns {number} a number in [0, 1), with 53 bits */
  uniform() {
    return ((this.bits() >>> 5) * 67108864 + (this.bits() >>> 6)) / 9007199254740992;
  }

  /** @returns {number} a standard normal number (Marsaglia's polar method) */
  normal() {
    if (this.spare !== null) {
      const kept = this.spare;
      this.spare = null;
      return kept;
    }
    let u, v, s;
    do {
      u = 2 * this.uniform() - 1;
      v = 2 * this.uniform() - 1;
      s = u * u + v * v;
    } while (s >= 1 || s === 0);
    const factor = Math.sqrt((-2 * Math.log(s)) / s);
    this.spare = v * factor;
    return u * factor;
  }

  /**
   * Return a number of a gamma law of unit scale (Marsaglia and Tsang).
   * @param {number} shape
   * @returns {number}
   */
  gamma(shape) {
    if (shape < 1) return this.gamma(shape + 1) * Math.pow(1 - this.uniform(), 1 / shape);
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = this.normal();
      const v = (1 + c * x) ** 3;
      if (v <= 0) continue;
      const u = 1 - this.uniform();
      if (Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
    }
  }

  /**
   * Return a count of a Poisson law; large rates by halves.
   * @param {number} rate
   * @returns {number}
   */
  poisson(rate) {
    let found = 0;
    while (rate > 30) {
      // The place of the m-th event is gamma: what comes before it is binomial, after it Poisson.
      const m = Math.floor((7 * rate) / 8);
      const at = this.gamma(m);
      if (at > rate) {
        for (let i = 1; i < m; i++) found += this.uniform() * at < rate ? 1 : 0;
        return found;
      }
      found += m;
      rate -= at;
    }
    const least = Math.exp(-rate);
    let product = this.uniform();
    while (product > least) {
      found += 1;
      product *= this.uniform();
    }
    return found;
  }

  /**
   * Return a place drawn by its share.
   * @param {number[]} shares they need not add up to one
   * @returns {number}
   */
  choice(shares) {
    let left = this.uniform() * shares.reduce((sum, share) => sum + share, 0);
    for (let i = 0; i < shares.length; i++) {
      left -= shares[i];
      if (left < 0) return i;
    }
    return shares.length - 1;
  }
}
