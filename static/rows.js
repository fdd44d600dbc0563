// @ts-check
// A list of rows that glide to their new places.

import { ago, exactly, number, ordinal, paintMark } from "./words.js";

/** @typedef {import("./leaderboard.js").Entry} Entry */

const glide = { duration: 350, easing: "cubic-bezier(0.2, 0.8, 0.2, 1)" };
const chipTime = 4000; // as long as the stylesheet fades it
const quiet = 5; // more rows than these, moved by others, wear no chip: one climber would mark half the board
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Where a player's page is. Browsers take the path segments . and .. away, so players of these names are shown on the
 * board.
 *
 * @param {string} board
 * @param {string} player
 */
export function playerAddress(board, player) {
  if (player === "." || player === "..") return `/b/${board}?player=${encodeURIComponent(player)}`;
  return `/b/${board}/p/${encodeURIComponent(player)}`;
}

/**
 * Fills a row with an entry.
 *
 * @param {Element} row
 * @param {Entry} entry
 * @param {string} address
 */
export function fillRow(row, entry, address) {
  const part = (/** @type {string} */ name) => row.querySelector(name);
  const set = (/** @type {string} */ name, /** @type {string} */ text) => {
    const element = part(name);
    if (element && element.textContent !== text) element.textContent = text;
  };
  set(".rank", number(entry.rank));
  set("bdi", entry.name ?? entry.player);
  set(".points", number(entry.points));
  part("a")?.setAttribute("href", address);
  paintMark(part(".mark"), entry);
  const at = part(".at");
  if (at) at.replaceChildren(timeOf(entry.achieved_at));
}

/** @param {string} iso */
export function timeOf(iso) {
  const time = document.createElement("time");
  time.dateTime = iso;
  time.title = exactly(iso);
  time.textContent = ago(Date.now() - Date.parse(iso));
  return time;
}

/** @typedef {{row: HTMLElement, entry: Entry, chipped: number, from: number}} Line */

export class Rows {
  /** @type {Map<string, Line>} */ #lines = new Map();
  #leader = "";

  /**
   * @param {HTMLElement} list
   * @param {HTMLTemplateElement} template
   * @param {string} board
   * @param {string} mine
   */
  constructor(list, template, board, mine) {
    this.list = list;
    this.template = template;
    this.board = board;
    this.mine = mine;
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".row"))) this.#adopt(row);
    this.#leader = /** @type {HTMLElement | null} */ (list.firstElementChild)?.dataset.player ?? "";
  }

  // Takes over a row that the server rendered.
  /** @param {HTMLElement} row */
  #adopt(row) {
    const player = row.dataset.player ?? "";
    const name = row.querySelector("bdi")?.textContent ?? "";
    const achieved_at = row.querySelector("time")?.dateTime ?? "";
    const entry = { rank: this.#lines.size + 1, player, name, points: row.dataset.points ?? "0", achieved_at };
    this.#lines.set(player, { row, entry, chipped: -chipTime, from: 0 });
  }

  /** @param {string} player */
  entry(player) {
    return this.#lines.get(player)?.entry;
  }

  /**
   * Shows the entries, in one movement from what is seen now to the final order.
   *
   * @param {Entry[]} entries
   * @param {Set<string> | null} changed who changed themselves; null: who knows
   * @param {boolean} tell whether to show what is new about them; otherwise they just stand there
   */
  show(entries, changed, tell) {
    const move = tell && !calm.matches;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const before = move ? this.#places() : new Map();
    for (const { row } of this.#lines.values()) for (const a of row.getAnimations()) if (a.id === "glide") a.cancel();

    /** @type {Map<string, Line>} */
    const lines = new Map();
    const moved = entries.filter((e) => (this.#lines.get(e.player)?.entry.rank ?? e.rank) !== e.rank).length;
    let next = this.list.firstElementChild;
    for (const entry of entries) {
      const old = this.#lines.get(entry.player)?.entry;
      const line = this.#lines.get(entry.player) ?? this.#make(entry);
      lines.set(entry.player, line);
      this.#update(line, entry);
      if (tell) this.#tell(line, entry, old, changed === null || changed.has(entry.player) || moved <= quiet);
      if (line.row === next) next = next.nextElementSibling;
      else this.list.insertBefore(line.row, next);
    }
    for (const [player, { row }] of this.#lines) if (!lines.has(player)) row.remove();
    this.#lines = lines;
    this.list.hidden = entries.length === 0;
    if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });

    if (move) this.#glide(before);
    this.#crown(entries[0]?.player ?? "", move);
  }

  #places() {
    /** @type {Map<string, number>} */
    const places = new Map();
    for (const [player, { row }] of this.#lines) places.set(player, row.getBoundingClientRect().top);
    return places;
  }

  /** @param {Entry} entry @returns {Line} */
  #make(entry) {
    const copy = /** @type {DocumentFragment} */ (this.template.content.cloneNode(true));
    const row = /** @type {HTMLElement} */ (copy.firstElementChild);
    row.dataset.player = entry.player;
    row.classList.toggle("mine", entry.player === this.mine);
    fillRow(row, entry, playerAddress(this.board, entry.player));
    return { row, entry, chipped: -chipTime, from: 0 };
  }

  /** @param {Line} line @param {Entry} entry */
  #update(line, entry) {
    if (line.entry === entry) return;
    line.entry = entry;
    line.row.dataset.points = entry.points;
    fillRow(line.row, entry, playerAddress(this.board, entry.player));
  }

  /** @param {Line} line @param {Entry} entry @param {Entry | undefined} old @param {boolean} chip */
  #tell(line, entry, old, chip) {
    if (!old) return;
    if (old.points !== entry.points) {
      line.row.animate([{ opacity: 0.3 }, { opacity: 0 }], { duration: 1200, easing: "ease-out", pseudoElement: "::before" });
      countUp(line.row.querySelector(".points"), old.points, entry.points);
    }
    if (old.rank !== entry.rank && chip) this.#chip(line, old.rank);
  }

  // Within four seconds a row wears one chip, with all that it moved since the first.
  /** @param {Line} line @param {number} rank */
  #chip(line, rank) {
    const now = performance.now();
    if (now - line.chipped >= chipTime) line.from = rank;
    line.chipped = now;
    const chip = line.row.querySelector(".chip");
    const up = line.from - line.entry.rank;
    const copy = /** @type {Element | undefined} */ (chip?.cloneNode()); // a new element begins its animation anew
    if (!chip || !copy) return;
    copy.className = `chip ${up > 0 ? "up" : up < 0 ? "down" : ""}`;
    copy.textContent = up ? number(Math.abs(up)) : "";
    chip.replaceWith(copy);
  }

  /** @param {Map<string, number>} before */
  #glide(before) {
    const after = this.#places();
    for (const [player, { row }] of this.#lines) {
      const from = before.get(player);
      const by = (from ?? 0) - (after.get(player) ?? 0);
      if (from === undefined) {
        row.animate([{ opacity: 0, transform: "translateY(24px)" }, { opacity: 1, transform: "none" }], { ...glide, id: "glide" });
      } else if (Math.abs(by) > 0.5) {
        const zIndex = by > 0 ? "2" : "1"; // climbers pass in front
        row.animate([{ transform: `translateY(${by}px)`, zIndex }, { transform: "none", zIndex }], { ...glide, id: "glide" });
      }
    }
  }

  /** @param {string} leader @param {boolean} glow */
  #crown(leader, glow) {
    const line = this.#lines.get(leader);
    if (line && this.#leader && leader !== this.#leader && glow) {
      const style = getComputedStyle(line.row);
      const gold = style.getPropertyValue("--gold");
      const own = style.boxShadow === "none" ? "" : `${style.boxShadow}, `; // the medal's edge stays
      line.row.animate(
        [
          { boxShadow: `${own}0 0 0 0 ${gold}, inset 0 0 48px ${gold}` },
          { boxShadow: `${own}0 0 36px 10px transparent, inset 0 0 48px transparent` },
        ],
        { duration: 1600, easing: "ease-out" },
      );
    }
    this.#leader = leader;
  }
}

/**
 * Counts from one number to another while rows glide, and ends with the exact one.
 *
 * @param {Element | null} element
 * @param {string} from
 * @param {string} to
 */
export function countUp(element, from, to) {
  if (!element) return;
  const decimals = to.split(".")[1]?.length ?? 0;
  const begin = performance.now();
  const said = number(to);
  if (calm.matches || document.hidden) {
    element.textContent = said;
    return;
  }
  const step = (/** @type {number} */ now) => {
    if (element.textContent !== last) return; // somebody else has written since
    const part = Math.min(Math.max((now - begin) / glide.duration, 0), 1);
    const eased = 1 - (1 - part) ** 3;
    last = part < 1 ? number((Number(from) + (Number(to) - Number(from)) * eased).toFixed(decimals), decimals) : said;
    element.textContent = last;
    if (part < 1) requestAnimationFrame(step);
  };
  let last = number(from);
  element.textContent = last;
  requestAnimationFrame(step);
}

/** @param {Entry} entry @param {Entry | undefined} old */
export function told(entry, old) {
  const points = `${number(entry.points)} points`;
  if (!old) return `came in ${ordinal(entry.rank)} with ${points}`;
  if (entry.rank < old.rank) return `climbed from ${ordinal(old.rank)} to ${ordinal(entry.rank)} with ${points}`;
  if (entry.rank > old.rank) return `fell from ${ordinal(old.rank)} to ${ordinal(entry.rank)} with ${points}`;
  return `reached ${points}, still ${ordinal(entry.rank)}`;
}
