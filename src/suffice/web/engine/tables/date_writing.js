/**
 * Dates and times as people read them.
 * @module
 */

/**
 * Write a date or a time as it is read again.
 * @param {number} value
 * @param {string} order
 * @param {boolean} timed
 * @returns {string}
 */
export function writtenDate(value, order, timed) {
  if (order === "clock") {
    const minutes = Math.round(value * 60);
    return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  }
  const text = new Date(Math.round(value * 86400) * 1000).toISOString();
  return timed ? text.slice(0, 16).replace("T", " ") : text.slice(0, 10);
}
