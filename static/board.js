// @ts-check
// Keeps a page moving that was whole before: the rows, the head, one's own place, what happened last.

import { connect, readFrame } from "./leaderboard.js";
import { Rows, countUp, fillRow, playerAddress, timeOf, told } from "./rows.js";
import { suggest } from "./search.js";
import { ago, apart, countdown, exactly, localise, number, ordinal, paintMark, share, toNext, withUnit } from "./words.js";

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

const reach = 2; // rows above and below

/** @type {Standing | null} */
let me = null;

/**
 * Shows where the reader stands. Reports whether that is news.
 *
 * @param {Standing} entry
 * @param {number} total
 */
function showMe(entry, total) {
  const news = me
    ? me.rank !== entry.rank || me.points !== entry.points
    : get("my-rank")?.textContent !== ordinal(entry.rank) || get("my-points")?.textContent !== number(entry.points);
  say("my-rank", ordinal(entry.rank));
  say("my-of", `of ${number(total)}`);
  say("my-share", share(entry.rank, total));
  say("bar-rank", ordinal(entry.rank));
  if (news || entry.to_next !== undefined) sayToNext(entry, total, entry.to_next);
  for (const id of ["my-points", "bar-points"]) {
    if (me && me.points !== entry.points) countUp(get(id), me.points, entry.points);
    else if (!me) say(id, number(entry.points));
  }
  if (me && me.rank !== entry.rank) {
    announce(`You are ${ordinal(entry.rank)} now, ${entry.rank < me.rank ? "up" : "down"} from ${ordinal(me.rank)}.`);
  }
  me = entry;
  return news;
}

/** @param {Entry} entry @param {number} total @param {string | null | undefined} points */
function sayToNext(entry, total, points) {
  for (const id of ["my-next", "bar-next"]) say(id, toNext(entry.rank, total, points));
}

/**
 * The rows around a place, filled up at the edges, if the list reaches that far.
 *
 * @param {Entry} entry
 * @param {Top} top
 */
function nearby(entry, { entries, total }) {
  if (entries[entry.rank - 1]?.player !== entry.player) return null;
  const many = Math.min(2 * reach + 1, total);
  const first = Math.min(Math.max(entry.rank - 1 - reach, 0), total - many);
  return first + many <= entries.length ? entries.slice(first, first + many) : null;
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
    const empty = get("empty");
    if (empty) empty.hidden = top.entries.length > 0;
    if (leader && top.entries[0] && top.entries[0].player !== leader) {
      announce(`${top.entries[0].name ?? top.entries[0].player} leads with ${withUnit(top.entries[0].points)}.`);
    }
    shown = top;
    changed = new Set();
    seen = !document.hidden;
    settle();
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
  const askAround = atMostEvery(2000, async () => {
    const view = document.hidden ? null : await look(board, player);
    if (!view?.entry) return;
    showMe({ ...view.entry, to_next: view.to_next }, view.total);
    showAround(view.around);
  });

  // The rows around me are those of the list, where it reaches that far.
  const settle = () => {
    const rows = me && shown && nearby(me, shown);
    if (!me || !shown || !rows) return;
    const above = shown.entries[me.rank - 2];
    say("my-of", `of ${number(shown.total)}`);
    sayToNext(me, shown.total, above && apart(above.points, me.points));
    showAround(rows);
  };
  let around = "";
  const showAround = (/** @type {Entry[]} */ entries) => {
    const key = JSON.stringify(entries);
    if (key === around) return;
    around = key;
    if (!get("around") && entries.length > 1) renewPlace();
    fillAround(board, player, entries);
  };
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
      const news = showMe(entry, total);
      if (shown && entry.rank + reach <= shown.entries.length) settle(); // or when the list has heard of it
      else if (news) askAround();
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

/**
 * Asks where a player stands, and who stands around.
 *
 * @param {string} board
 * @param {string} player
 */
async function look(board, player) {
  const address = `/api/v1/boards/${board}/view?player=${encodeURIComponent(player)}&limit=1&radius=${reach}`;
  const reply = await fetch(address).catch(() => null);
  return reply?.ok ? readFrame(await reply.text()) : null;
}

/** @param {string} board @param {string} player @param {Entry[]} entries */
function fillAround(board, player, entries) {
  const list = get("around");
  const template = /** @type {HTMLTemplateElement | null} */ (get("small-row"));
  if (!list || !template) return;
  list.replaceChildren(...entries.map((entry) => {
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
  connect({
    board, player, limit: 1, onState,
    url: location.href,
    onTop() { heardAt = Date.now(); },
    onYou({ entry, total }) {
      heardAt = Date.now();
      if (entry && showMe(entry, total)) renewParts();
      if (!entry && me) location.reload(); // gone: the server knows what to say
    },
    onSeason(season) {
      me = null;
      location.search = `season=${season - 1}`; // where this player has come to stand for good
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
