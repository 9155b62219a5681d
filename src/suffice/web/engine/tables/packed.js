/**
 * Numbers that were packed to be small: sorted keys as differences, counts, seven bits a byte,
 * deflated, in base64.
 * @module
 */

/**
 * @typedef {object} PackedCounts
 * @property {number} many how many keys there are
 * @property {string} keys
 * @property {string} counts one class after the other
 * @property {boolean} whole whether counts are whole numbers
 */

/**
 * Return the bytes that were deflated.
 * @param {string} text base64
 * @returns {Promise<Uint8Array>}
 */
export async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Return whole numbers that are written with seven bits a byte, the lowest first.
 * @param {Uint8Array} bytes
 * @param {number} many
 * @returns {Float64Array}
 */
export function unpacked(bytes, many) {
  const found = new Float64Array(many);
  let at = 0;
  for (let i = 0; i < many; i++) {
    let [value, unit] = [0, 1];
    for (;;) {
      if (at >= bytes.length) throw new Error("there are too few numbers");
      const byte = bytes[at++];
      value += (byte & 127) * unit;
      if (byte < 128) break;
      unit *= 128;
    }
    found[i] = value;
  }
  return found;
}

/**
 * Return keys, and counts with the classes of a key side by side.
 * @param {PackedCounts} packed
 * @param {number} size the number of classes
 * @returns {Promise<{ keys: Float64Array, counts: Float64Array }>}
 */
export async function unpackedCounts(packed, size) {
  const { many } = packed;
  const keys = unpacked(await inflated(packed.keys), many);
  for (let i = 1; i < many; i++) keys[i] += keys[i - 1];
  const bytes = await inflated(packed.counts);
  let columns;
  if (packed.whole) columns = unpacked(bytes, many * size);
  else columns = new Float64Array(bytes.buffer, 0, many * size);
  const counts = new Float64Array(many * size);
  for (let c = 0; c < size; c++) for (let i = 0; i < many; i++) counts[i * size + c] = columns[c * many + i];
  return { keys, counts };
}
