// @ts-check
// Suggestions below the search field: links, so that Tab reaches them, and arrows too.

import { readFrame } from "./leaderboard.js";
import { number, paintMark } from "./words.js";

const typingPause = 150; // ms
const shown = 8;

/**
 * @param {HTMLFormElement} form
 * @param {string} board
 * @param {(text: string) => void} announce
 */
export function suggest(form, board, announce) {
  const input = /** @type {HTMLInputElement} */ (form.elements.namedItem("q"));
  const box = /** @type {HTMLElement} */ (form.querySelector("#suggest"));
  const recent = /** @type {HTMLElement | null} */ (box.querySelector("#recent"));
  const list = document.createElement("ul");
  list.setAttribute("role", "list");
  list.setAttribute("aria-label", "Players found");
  box.append(list);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let asked = new AbortController();

  input.addEventListener("input", () => {
    clearTimeout(timer);
    asked.abort();
    const text = input.value.trim();
    box.hidden = false;
    if (recent) recent.hidden = text !== "";
    if (text) timer = setTimeout(find, typingPause, text);
    else list.replaceChildren();
  });
  input.addEventListener("focus", () => { box.hidden = false; });

  /** @param {string} text */
  async function find(text) {
    asked = new AbortController();
    try {
      const address = `/api/v1/boards/${board}/players?name=${encodeURIComponent(text)}&limit=${shown}`;
      const reply = await fetch(address, { signal: asked.signal });
      if (!reply.ok) return;
      const { entries } = readFrame(await reply.text());
      list.replaceChildren(...entries.map(suggestion));
      announce(entries.length === 1 ? "1 player found" : `${entries.length} players found`);
    } catch {
      // The form itself still works.
    }
  }

  /** @param {import("./leaderboard.js").Entry} entry */
  function suggestion(entry) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const mark = document.createElement("span");
    const name = document.createElement("bdi");
    const rank = document.createElement("span");
    name.textContent = entry.name ?? entry.player;
    rank.textContent = number(entry.rank);
    rank.className = "muted";
    paintMark(mark, entry);
    mark.setAttribute("aria-hidden", "true");
    link.href = `/b/${board}?player=${encodeURIComponent(entry.player)}&q=${encodeURIComponent(name.textContent)}`;
    link.append(mark, name, rank);
    item.append(link);
    return item;
  }

  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (!box.hidden) event.preventDefault(); // once puts suggestions away, twice empties the field
      input.focus();
      box.hidden = true;
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    box.hidden = false; // before the links are looked at: hidden ones do not count
    const links = [...box.querySelectorAll("a")].filter((a) => a.offsetParent);
    const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
    (links[at + step] ?? input).focus();
  });
}
