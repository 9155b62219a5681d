/**
 * Decisions by a threshold: counts, rates and costs of a class against the rest.
 * @module
 */

/**
 * Rows of a class against the rest, sorted by their log odds, the largest first.
 * @typedef {object} Steps
 * @property {number[]} odds log odds of a step: the smallest of its rows
 * @property {number[]} yes weight of the class itself in every step
 * @property {number[]} no weight of all other classes
 */

/** @typedef {{ hits: number, alarms: number, misses: number, quiet: number }} Counts */

/** Log odds that stand for certainty: no number below or above is written in a page. */
export const CERTAIN = 1e6;

/** @param {number} share @returns {number} log odds of a probability */
export function oddsOf(share) {
  if (!(share > 0)) return -CERTAIN;
  return share >= 1 ? CERTAIN : Math.log(share / (1 - share));
}

/** @param {number} odds @returns {number} the probability */
export function shareOf(odds) {
  return odds >= 0 ? 1 / (1 + Math.exp(-odds)) : Math.exp(odds) / (1 + Math.exp(odds));
}

/**
 * Count what a threshold does: rows whose log odds reach it are given to the class.
 * @param {Steps} steps
 * @param {number} odds
 * @returns {Counts}
 */
export function countsAt(steps, odds) {
  let [hits, alarms, misses, quiet] = [0, 0, 0, 0];
  steps.odds.forEach((own, i) => {
    if (own >= odds) {
      hits += steps.yes[i];
      alarms += steps.no[i];
    } else {
      misses += steps.yes[i];
      quiet += steps.no[i];
    }
  });
  return { hits, alarms, misses, quiet };
}

/**
 * Return the usual shares of counts; NaN where there is nothing to divide by.
 * @param {Counts} counts
 * @returns {{ precision: number, recall: number, falseRate: number, accuracy: number, named: number }}
 */
export function rates({ hits, alarms, misses, quiet }) {
  const all = hits + alarms + misses + quiet;
  return {
    precision: hits / (hits + alarms), recall: hits / (hits + misses), falseRate: alarms / (alarms + quiet),
    accuracy: (hits + quiet) / all, named: (hits + alarms) / all,
  };
}

/**
 * Return rates after every step, where nothing is named first.
 * @param {Steps} steps
 * @returns {{ odds: number, recall: number, falseRate: number, precision: number }[]}
 */
export function curveOf(steps) {
  const [yes, no] = [steps.yes, steps.no].map((weights) => weights.reduce((sum, w) => sum + w, 0));
  let [hits, alarms] = [0, 0];
  const found = steps.odds.map((odds, i) => {
    hits += steps.yes[i];
    alarms += steps.no[i];
    return { odds, recall: hits / yes, falseRate: alarms / no, precision: hits / (hits + alarms) };
  });
  return [{ odds: CERTAIN, recall: 0, falseRate: 0, precision: found[0]?.precision ?? 1 }, ...found];
}

/**
 * Return what counts cost.
 * @param {Counts} counts
 * @param {number} alarm of a row that is named and does not belong to the class
 * @param {number} miss of a row of the class that is not named
 * @returns {number}
 */
export function costOf(counts, alarm, miss) {
  return alarm * counts.alarms + miss * counts.misses;
}

/**
 * Return the log odds from which naming a class is the cheaper choice, if probabilities can be
 * taken at their word: p · miss > (1 - p) · alarm.
 * @param {number} alarm
 * @param {number} miss
 * @returns {number}
 */
export function fairOdds(alarm, miss) {
  if (alarm === miss) return 0;
  if (miss === 0) return CERTAIN;
  return alarm === 0 ? -CERTAIN : Math.log(alarm / miss);
}

/**
 * Return the log odds that would have cost least on these rows; in a tie the highest.
 * @param {Steps} steps
 * @param {number} alarm
 * @param {number} miss
 * @returns {number}
 */
export function cheapestOdds(steps, alarm, miss) {
  let cost = miss * steps.yes.reduce((sum, w) => sum + w, 0);
  let [best, least] = [CERTAIN, cost];
  steps.odds.forEach((odds, i) => {
    cost += alarm * steps.no[i] - miss * steps.yes[i];
    if (cost < least - 1e-9) [best, least] = [odds, cost];
  });
  return best;
}
