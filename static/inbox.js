// @ts-check
// The bell and what is behind it: counts rewards, shows those that arrive, claims by one press. Without it the bell is
// a link and each reward a form.

import { connect } from "./leaderboard.js";
import { ago, exactly, number } from "./words.js";

/**
 * @typedef {{id: number, board: string, season: number, reward: string, title: string, at: string, claimed_at: string | null}} Prize
 */

const shown = 20;
const toastTime = 12_000; // ms
const lookEvery = 60_000;

const get = (/** @type {string} */ id) => document.getElementById(id);
const bell = /** @type {HTMLAnchorElement | null} */ (get("bell"));
const drawer = /** @type {HTMLDialogElement | null} */ (get("drawer"));
const toast = get("toast");

/** @param {string} path @param {RequestInit} [init] */
async function call(path, init) {
  const reply = await fetch(`/api/v1/me/${path}`, { ...init, cache: "no-store" });
  if (!reply.ok) throw Object.assign(new Error(`${path}: ${reply.status}`), { status: reply.status });
  return reply.json();
}

/** @param {number} unclaimed */
function sayCount(unclaimed) {
  const count = get("bell-count");
  if (!bell || !count) return;
  const words = unclaimed === 0 ? "Nothing waits to be claimed."
    : unclaimed === 1 ? "One reward waits to be claimed." : `${number(unclaimed)} rewards wait to be claimed.`;
  count.textContent = unclaimed > 99 ? "99+" : String(unclaimed);
  count.hidden = unclaimed === 0;
  const label = get("bell-words");
  if (label) label.textContent = `Rewards. ${words}`;
  const head = get("inbox-words");
  if (head) head.textContent = words;
}

/** Every line of a reward, wherever it is shown. @param {number | string} id */
const linesOf = (id) => /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`[data-prize="${id}"]`));

/** @param {HTMLElement} line @param {Prize} prize */
function fill(line, prize) {
  const claimed = prize.claimed_at !== null;
  line.classList.toggle("claimed", claimed);
  const form = line.querySelector("form");
  if (form) form.hidden = claimed;
  const note = /** @type {HTMLElement | null} */ (line.querySelector(".prize-claimed"));
  if (note) note.hidden = !claimed;
}

/** @param {Prize} prize */
function lineOf(prize) {
  const template = /** @type {HTMLTemplateElement} */ (get("prize"));
  const copy = /** @type {DocumentFragment} */ (template.content.cloneNode(true));
  const line = /** @type {HTMLElement} */ (copy.firstElementChild);
  line.dataset.prize = String(prize.id);
  const set = (/** @type {string} */ selector, /** @type {string} */ text) => {
    const element = line.querySelector(selector);
    if (element) element.textContent = text;
  };
  set(".prize-title bdi", prize.title);
  set(".prize-from bdi", `Season ${number(prize.season)} of ${prize.board}`);
  set("button .hidden", prize.title);
  line.querySelector(".prize-from")?.setAttribute("href", `/b/${prize.board}/seasons/${prize.season}`);
  line.querySelector("form")?.setAttribute("action", `/inbox/${prize.id}/claim`);
  const time = document.createElement("time");
  time.dateTime = prize.at;
  time.title = exactly(prize.at);
  time.textContent = ago(Date.now() - Date.parse(prize.at));
  line.querySelector(".at")?.replaceChildren(time);
  fill(line, prize);
  return line;
}

/** The lists that begin with the newest reward. */
const lists = () => /** @type {HTMLElement[]} */ ([
  drawer?.querySelector(".prizes"), document.querySelector("main .prizes[data-first]"),
].filter(Boolean));

/** @param {Prize} prize */
function show(prize) {
  for (const line of linesOf(prize.id)) fill(line, prize);
  for (const list of lists()) {
    if (list.querySelector(`[data-prize="${prize.id}"]`)) continue;
    const behind = [...list.children].find((line) => Number(/** @type {HTMLElement} */ (line).dataset.prize) < prize.id);
    if (!behind && list.children.length >= shown) continue; // older than what is shown
    list.insertBefore(lineOf(prize), behind ?? null);
    for (const words of list.parentElement?.querySelectorAll(".empty-words") ?? []) /** @type {HTMLElement} */ (words).hidden = true;
  }
}

// What has just arrived is shown for a while, unless the list is open.
/** @type {ReturnType<typeof setTimeout> | undefined} */
let toastTimer;
const hideToast = () => {
  if (toast) toast.hidden = true;
};
if (toast) {
  for (const over of ["pointerenter", "focusin"]) toast.addEventListener(over, () => clearTimeout(toastTimer));
  for (const out of ["pointerleave", "focusout"]) toast.addEventListener(out, () => rest());
}

function rest() {
  clearTimeout(toastTimer);
  toastTimer = setTimeout(hideToast, toastTime);
}

/** @param {Prize} prize */
function celebrate(prize) {
  const news = get("bell-news");
  if (news) news.textContent = `A reward has come: ${prize.title}`;
  if (!toast || drawer?.open || document.querySelector("main .prizes")) return;
  toast.querySelector(".prizes")?.replaceChildren(lineOf(prize));
  toast.hidden = false;
  rest();
}

async function refresh() {
  const { items, unclaimed } = await call(`inbox?limit=${shown}`);
  for (const prize of items) show(prize);
  const none = /** @type {HTMLElement | null | undefined} */ (drawer?.querySelector(".empty-words"));
  if (none) none.hidden = items.length > 0;
  sayCount(unclaimed);
}

document.addEventListener("submit", async (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const line = /** @type {HTMLElement | null} */ (form.closest("[data-prize]"));
  if (!line) return;
  event.preventDefault();
  const button = form.querySelector("button");
  if (button) button.disabled = true;
  try {
    const prize = /** @type {Prize} */ (await call(`inbox/${line.dataset.prize}/claim`, { method: "POST" }));
    const focused = form.contains(document.activeElement);
    for (const each of linesOf(prize.id)) fill(each, prize);
    if (focused) (line.querySelector("a") ?? line).focus();
    const news = get("bell-news");
    if (news) news.textContent = `Claimed: ${prize.title}`;
    await refresh();
  } catch {
    if (!form.hidden) HTMLFormElement.prototype.submit.call(form); // the page says what is wrong
  } finally {
    if (button) button.disabled = false;
  }
});

function openDrawer(/** @type {Event} */ event) {
  if (!drawer || document.querySelector("main .prizes")) return;
  event.preventDefault();
  hideToast();
  drawer.showModal();
  refresh().catch(() => location.assign("/inbox"));
}

function start() {
  if (!bell) return;
  bell.addEventListener("click", openDrawer);
  drawer?.addEventListener("click", (event) => {
    if (event.target === drawer) drawer.close(); // beside it
  });
  const board = bell.dataset.board;
  if (!board) return;
  let missed = true; // something may have come that was not heard
  const connection = connect({
    board, limit: 1, url: location.href,
    // The cookie cannot be read here, and opens no socket: what it is exchanged for does, for a minute.
    async token() {
      try {
        return (await call("ticket", { method: "POST" })).token;
      } catch (error) {
        if (/** @type {any} */ (error).status === 401) connection.close();
        throw error;
      }
    },
    onState({ state }) {
      if (state !== "live") missed = true;
    },
    onYou() { // the first word after the socket has become the player's
      if (!missed) return;
      missed = false;
      refresh().catch(() => { missed = true; });
    },
    onReward(frame) {
      const { unclaimed, ...prize } = /** @type {Prize & {unclaimed: number}} */ (frame);
      const fresh = linesOf(prize.id).length === 0;
      show(prize);
      sayCount(unclaimed);
      if (fresh && prize.claimed_at === null) celebrate(prize);
    },
  });
  // What the server itself has not heard of is in the inbox all the same.
  const look = () => {
    if (!document.hidden && connection.state !== "closed") refresh().catch(() => { missed = true; });
  };
  setInterval(look, lookEvery);
  document.addEventListener("visibilitychange", look);
}

start();
