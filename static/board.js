// @ts-check
// Keeps a page moving that was whole before: the rows, the head, one's own place, what happened last.

import { connect, readFrame } from "./leaderboard.js";
import { Rows, countUp, fillRow, playerAddress, timeOf, told } from "./rows.js";
import { suggest } from "./search.js";
import { ago, countdown, exactly, localise, number, ordinal, paintMark, share, toNext, withUnit } from "./words.js";

/** @typedef {import("./leaderboard.js").Top} Top */
/** @typedef {import("./leaderboard.js").Entry} Entry */
/** @typedef {import("./leaderboard.js").Standing} Standing */

const get = (/** @type {string} */ id) => document.getElementById(id);
const say = (/** @type {string} */ id, /** @type {string} */ text) => {
  const element = get(id);
  if (element && element.textContent !== text) element.textContent = text;
};

/** @param {number} pause in ms @param {() => unknown} act */
function atMostEvery(pause, act) {
  let due = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      due = Date.now() + pause;
      act();
    }, Math.max(due - Date.now(), 0));
  };
}

// A screen reader hears the latest news, and no more than six times a minute.
let news = "";
const tellNews = atMostEvery(10_000, () => say("news", news));
const announce = (/** @type {string} */ text) => {
  news = text;
  tellNews();
};

// Times and clocks.

function tick() {
  for (const clock of /** @type {NodeListOf<HTMLTimeElement>} */ (document.querySelectorAll("time.clock"))) {
    const left = countdown(Date.parse(clock.dateTime) - Date.now());
    if (clock.textContent !== left) clock.textContent = left;
  }
  pill();
}

function refreshTimes() {
  for (const time of /** @type {NodeListOf<HTMLTimeElement>} */ (document.querySelectorAll(".at time"))) {
    if (time.dateTime) time.textContent = ago(Date.now() - Date.parse(time.dateTime));
  }
}

// The lamp.

const lampWords = {
  connecting: "Connecting", live: "LIVE", catching: "Catching up", waiting: "Reconnecting", offline: "Offline",
  refused: "Not live", closed: "Not live",
};
/** @type {{state: keyof typeof lampWords, retryAt?: number} | null} */
let lamp = null;
let heardAt = Date.now();

function pill() {
  const element = get("pill");
  if (!lamp || !element) return;
  element.dataset.state = lamp.state;
  say("pill-state", lampWords[lamp.state]);
  const age = Date.now() - heardAt;
  const seconds = Math.ceil(((lamp.retryAt ?? 0) - Date.now()) / 1000);
  if (lamp.state === "waiting") say("pill-age", seconds > 0 ? `in ${seconds} s` : "now");
  else say("pill-age", age < 3000 ? "now" : age < 60_000 ? `${Math.floor(age / 1000)} s ago` : ago(age));
}

/** @param {{state: keyof typeof lampWords, retryAt?: number}} change */
function onState(change) {
  const lost = change.state === "waiting" || change.state === "offline";
  const was = lamp?.state;
  if (lost && was === "live") announce("The connection is lost. What you see may be old.");
  if (change.state === "live" && (was === "waiting" || was === "offline" || was === "catching") && news.startsWith("The connection")) {
    announce("Live again.");
  }
  lamp = change;
  pill();
}

/** Says numbers and times in the reader's way. @param {HTMLElement} root */
function prepare(root) {
  localise(root);
  for (const time of /** @type {NodeListOf<HTMLTimeElement>} */ (root.querySelectorAll("time[datetime]"))) {
    if (time.dateTime) time.title = exactly(time.dateTime);
  }
}

/** Fetches this page anew and takes over the parts that have these ids. */
async function renew(/** @type {string[]} */ ...ids) {
  const reply = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!reply?.ok) return;
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  prepare(page.body);
  for (const id of ids) {
    const part = page.getElementById(id);
    if (part) get(id)?.replaceWith(document.adoptNode(part));
  }
}

// One's own place.

/** @type {Standing | null} */
let me = null;

/** @param {Standing} entry @param {number} total */
function showMe(entry, total) {
  say("my-rank", ordinal(entry.rank));
  say("my-of", `of ${number(total)}`);
  say("my-share", share(entry.rank, total));
  say("my-next", toNext(entry.rank, total, entry.to_next));
  say("bar-rank", ordinal(entry.rank));
  say("bar-next", toNext(entry.rank, total, entry.to_next));
  for (const id of ["my-points", "bar-points"]) {
    if (me && me.points !== entry.points) countUp(get(id), me.points, entry.points);
    else say(id, number(entry.points));
  }
  if (me && me.rank !== entry.rank) {
    announce(`You are ${ordinal(entry.rank)} now, ${entry.rank < me.rank ? "up" : "down"} from ${ordinal(me.rank)}.`);
  }
  me = entry;
}

// The pages.

/** @param {HTMLElement} root */
function startBoard(root) {
  const { board = "", player = "", limit = "" } = root.dataset;
  const form = /** @type {HTMLFormElement | null} */ (get("search"));
  if (form) suggest(form, board, announce);
  if (!limit) return;

  const list = /** @type {HTMLElement} */ (get("rows"));
  const rows = new Rows(list, /** @type {HTMLTemplateElement} */ (get("row")), board, player);
  /** @type {Top | null} */ let shown = null;
  /** @type {Top | null} */ let next = null;
  /** @type {Set<string> | null} */ let changed = new Set();
  let seen = !document.hidden; // a hidden page shows the present state when it comes back, without a movement

  const draw = () => {
    if (!next) return;
    const top = next;
    next = null;
    const first = shown === null;
    const newSeason = shown !== null && shown.season !== top.season;
    if (!first && !newSeason) happened(top, changed);
    const leader = shown?.entries[0]?.player;
    rows.show(top.entries, changed, seen && !document.hidden && !newSeason);
    say("total", number(top.total));
    if (top.entries.length > 0) get("empty")?.remove();
    if (leader && top.entries[0] && top.entries[0].player !== leader) {
      announce(`${top.entries[0].name ?? top.entries[0].player} leads with ${withUnit(top.entries[0].points)}.`);
    }
    shown = top;
    changed = new Set();
    seen = !document.hidden;
  };

  // The latest list takes in one line at a time: the best of what happened meanwhile.
  /** @type {{entry: Entry, text: string} | null} */
  let story = null;
  const tellStory = atMostEvery(1500, () => {
    if (story) addEvent(board, story.entry, story.text);
    story = null;
  });
  /** @param {Top} top @param {Set<string> | null} who */
  function happened(top, who) {
    if (document.hidden || !who) return;
    for (const entry of top.entries) {
      const old = rows.entry(entry.player);
      if (!who.has(entry.player) || old?.points === entry.points || (story && story.entry.rank <= entry.rank)) continue;
      story = { entry, text: told(entry, old) };
    }
    if (story) tellStory();
  }

  const renewPlace = atMostEvery(5000, () => renew("place", "bar"));
  const renewAround = atMostEvery(5000, () => around(board, player));
  connect({
    board, player, limit: Number(limit), onState,
    url: location.href,
    onTop(top, frame) {
      heardAt = Date.now();
      if (frame.type === "delta" && changed) for (const entry of frame.changed) changed.add(entry.player);
      else changed = null;
      if (!next && !document.hidden) requestAnimationFrame(draw);
      next = top;
    },
    onYou({ entry, total }) {
      heardAt = Date.now();
      if (!entry || !get("my-rank")) return renewPlace();
      showMe(entry, total);
      renewAround();
    },
    onSeason(season) {
      say("season", number(season));
      announce(`Season ${season} has begun.`);
      me = null;
      renew("ends", "past", "place", "bar");
    },
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    seen = false;
    draw();
    refreshTimes();
    tick();
  });
}

/** @param {string} board @param {string} player */
async function around(board, player) {
  const list = get("around");
  const template = /** @type {HTMLTemplateElement | null} */ (get("small-row"));
  if (document.hidden || !list || !template) return;
  const address = `/api/v1/boards/${board}/players/${encodeURIComponent(player)}/around?radius=2`;
  const reply = await fetch(address).catch(() => null);
  if (!reply?.ok) return;
  const { entries } = readFrame(await reply.text());
  list.replaceChildren(...entries.map((/** @type {Entry} */ entry) => {
    const copy = /** @type {DocumentFragment} */ (template.content.cloneNode(true));
    const row = /** @type {HTMLElement} */ (copy.firstElementChild);
    row.classList.toggle("mine", entry.player === player);
    fillRow(row, entry, playerAddress(board, entry.player));
    return row;
  }));
}

/** @param {string} board @param {Entry} entry @param {string} text */
function addEvent(board, entry, text) {
  const list = get("latest");
  const template = /** @type {HTMLTemplateElement | null} */ (get("event"));
  if (!list || !template) return;
  const copy = /** @type {DocumentFragment} */ (template.content.cloneNode(true));
  const item = /** @type {HTMLElement} */ (copy.firstElementChild);
  paintMark(item.querySelector(".mark"), entry);
  const name = item.querySelector("bdi");
  const words = item.querySelector(".text");
  if (name) name.textContent = entry.name ?? entry.player;
  if (words) words.textContent = text;
  item.querySelector("a")?.setAttribute("href", playerAddress(board, entry.player));
  item.querySelector(".at")?.replaceChildren(timeOf(entry.achieved_at));
  item.classList.add("fresh");
  list.prepend(item);
  while (list.children.length > 5) list.lastElementChild?.remove();
}

/** @param {HTMLElement} root */
function startPlayer(root) {
  const { board = "", player = "", live } = root.dataset;
  if (live === undefined) return;
  const renewParts = atMostEvery(5000, () => {
    if (!document.hidden) renew("facts", "chart", "activity", "around");
  });
  let first = true;
  connect({
    board, player, limit: 1, onState,
    url: location.href,
    onYou({ entry, total }) {
      heardAt = Date.now();
      if (entry) showMe(entry, total);
      if (!first) renewParts();
      first = false;
    },
  });
}

prepare(document.body);
setInterval(tick, 1000);
setInterval(refreshTimes, 15_000);
const boardRoot = get("board");
const playerRoot = get("player");
if (boardRoot) startBoard(boardRoot);
if (playerRoot) startPlayer(playerRoot);
