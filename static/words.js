// @ts-check
// Numbers, times and marks, as the server says them, with the reader's own separators and time zone.

// The digits stay those of the server's words around them.
const locale = new Intl.Locale(navigator.language || "en", { numberingSystem: "latn" });
const formats = new Map();

/**
 * Formats a plain decimal text without losing a digit.
 *
 * @param {string | number} plain such as "-1240.50"
 * @param {number} [decimals] to show; by default as many as there are
 */
export function number(plain, decimals = String(plain).split(".")[1]?.length ?? 0) {
  let format = formats.get(decimals);
  if (!format) {
    format = new Intl.NumberFormat(locale, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    formats.set(decimals, format);
  }
  return format.format(plain);
}

/**
 * Returns how far apart two points are, exactly. They have equally many decimals.
 *
 * @param {string} a
 * @param {string} b
 */
export function apart(a, b) {
  const decimals = a.split(".")[1]?.length ?? 0;
  const units = BigInt(a.replace(".", "")) - BigInt(b.replace(".", ""));
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, "0");
  return decimals ? `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}` : digits;
}

/** @param {string} points */
export const withUnit = (points) => (points === "1" ? "1 point" : `${number(points)} points`);

/** @param {number} n */
export function ordinal(n) {
  const teen = n % 100 >= 11 && n % 100 <= 13;
  return number(n) + ((!teen && ["", "st", "nd", "rd"][n % 10]) || "th");
}

/**
 * Says which part of the others is behind, rounded down.
 *
 * @param {number} rank
 * @param {number} total
 */
export function share(rank, total) {
  if (total <= 1) return "nobody yet";
  const tenths = Math.floor((1000 * (total - rank)) / (total - 1));
  return `${number(tenths % 10 ? (tenths / 10).toFixed(1) : tenths / 10)}\u202f%`;
}

/**
 * @param {number} rank
 * @param {number} total
 * @param {string | null | undefined} points missing to the place above
 */
export function toNext(rank, total, points) {
  if (rank === 1) return total === 1 ? "First, and alone so far" : "In the lead";
  if (points == null) return "";
  const above = ordinal(rank - 1);
  return Number(points) === 0 ? `Level with ${above}, who got there first` : `${withUnit(points)} behind ${above}`;
}

const units = /** @type {const} */ ([["s", 60], ["min", 60], ["h", 48], ["days", 60]]);

/** @param {number} ms since it happened */
export function ago(ms) {
  if (ms < 10_000) return "just now";
  let n = ms / 1000;
  for (const [unit, many] of units) {
    if (n < many) return `${Math.floor(n)} ${unit} ago`;
    n /= unit === "h" ? 24 : 60;
  }
  return new Date(Date.now() - ms).toLocaleDateString(locale, { dateStyle: "medium" });
}

/** @param {string} iso */
export const exactly = (iso) => new Date(iso).toLocaleString(locale, { dateStyle: "long", timeStyle: "medium" });

/** @param {number} ms left */
export function countdown(ms) {
  const two = (/** @type {number} */ n) => String(Math.floor(n)).padStart(2, "0");
  const s = Math.max(ms, 0) / 1000;
  if (s >= 86_400) return `${number(Math.floor(s / 86_400))} d ${two((s % 86_400) / 3600)} h`;
  return `${two(s / 3600)}:${two((s % 3600) / 60)}:${two(s % 60)}`;
}

const letter = /[\p{L}\p{N}]/u;

/** @param {string} name */
function initials(name) {
  const words = name.trim().split(/\s+/);
  return (words.length > 2 ? [words[0], words[words.length - 1]] : words).map((word) => {
    const first = word.match(letter)?.[0] ?? "";
    const upper = first.toUpperCase();
    return [...upper].length === 1 ? upper : first;
  }).join("");
}

/**
 * Puts a player's sign on a mark: the hue comes from the id, so it stays when the name changes.
 *
 * @param {Element | null} mark
 * @param {{player: string, name: string | null}} entry
 */
export function paintMark(mark, { player, name }) {
  if (!mark) return;
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(player)) hash = Math.imul(hash ^ byte, 0x01000193);
  mark.className = `mark hue-${(hash >>> 0) % 12}`;
  mark.textContent = initials(name ?? "") || initials(player) || "•";
}

/**
 * Rewrites the numbers that the server grouped by thin spaces in the reader's way. Names and commands stay as they are.
 *
 * @param {Node} root
 */
export function localise(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest("bdi, pre, script, template, textarea") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.nodeValue ?? "";
    const said = text.replace(/\u2212?\d{1,3}(?:(?:\u202f\d{3})+(?:\.\d+)?|\.\d+)/g, (found) =>
      number(found.replaceAll("\u202f", "").replace("\u2212", "-")));
    if (said !== text) node.nodeValue = said;
  }
}
