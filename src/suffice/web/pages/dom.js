/**
 * Elements out of words: text is text, whatever it holds, and never markup.
 * @module
 */

/**
 * Make an element. Children that are strings become text; `data` and `aria` attributes are given
 * by their names.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null | ((event: any) => void)>} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null) made.append(child);
  return made;
}

/**
 * Return a name apart from the direction of its neighbours, cut where it is long.
 * @param {string} text
 * @param {number} [most]
 * @returns {HTMLElement}
 */
export function named(text, most = 60) {
  const shown = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return el("bdi", shown === text ? {} : { title: text.slice(0, 500) }, visible(shown));
}

/**
 * Return words without what turns their neighbours around or cannot be seen.
 * @param {string} text
 * @returns {string}
 */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "�");
}

/**
 * Find an element of the page that has to be there.
 * @template {HTMLElement} T
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return /** @type {T} */ (found);
}

/**
 * Return a share in words; it is never rounded to certainty.
 * @param {number} share
 * @returns {string}
 */
export function percent(share) {
  if (share > 0.9999) return "> 99.99 %";
  if (share < 0.0001) return "< 0.01 %";
  return `${(100 * share).toFixed(share > 0.995 || share < 0.005 ? 2 : 1)} %`;
}

/**
 * Return a number with few digits.
 * @param {number} value
 * @returns {string}
 */
export function short(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(2).replace("-", "−");
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3).replace("-", "−");
}

/**
 * Return a number with its sign.
 * @param {number} value
 * @returns {string}
 */
export function signed(value) {
  return value > 0 ? `+${short(value)}` : short(value);
}

/**
 * Save a text as a file.
 * @param {string} name
 * @param {BlobPart} content
 * @param {string} type
 */
export function save(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
