// @ts-check
/**
 * Live leaderboards for any page. The client keeps the top of a board in step with the server: it applies deltas, asks
 * for a fresh start when it missed one, and comes back after a broken connection, ever more patiently.
 *
 *     import { connect } from "https://boards.example/static/leaderboard.js";
 *
 *     const board = connect({
 *       board: "demo",
 *       limit: 10,
 *       onTop: ({ entries, total }) => draw(entries, total),
 *       onState: ({ state }) => { lamp.dataset.state = state; },
 *     });
 *     board.close();
 *
 * Points are exact decimal texts ("1240.50"): numbers of JavaScript lose digits beyond 2^53.
 *
 * @module
 */

/**
 * @typedef {object} Entry
 * @property {number} rank
 * @property {string} player
 * @property {string | null} name
 * @property {string} points
 * @property {string} achieved_at
 */
/** @typedef {Entry & {percentile?: number, to_next?: string | null}} Standing */
/** @typedef {{season: number, epoch: string, version: number, total: number, entries: Entry[]}} Top */
/** @typedef {{type: "delta", from: number, version: number, total: number, changed: Entry[], removed: string[]}} Delta */
/** @typedef {{type: "snapshot"} & Top} Snapshot */
/**
 * connecting: for the first time. live: what is shown is what is. catching: something was missed and is on its way.
 * waiting: comes back at retryAt. offline: the browser has no network. refused: the server does not want this client,
 * which stays away. closed: by close().
 *
 * @typedef {"connecting" | "live" | "catching" | "waiting" | "offline" | "refused" | "closed"} State
 */
/**
 * @typedef {object} Options
 * @property {string} board the board's id
 * @property {string | URL} [url] the server; by default the one that served this module
 * @property {number} [limit] how many places to watch, 10 by default
 * @property {string} [player] whose place to tell
 * @property {string | (() => string | Promise<string>)} [token] a player's token or ticket, or how to get a fresh one
 * @property {(top: Top, frame: Snapshot | Delta) => void} [onTop]
 * @property {(you: {entry: Standing | null, total: number}) => void} [onYou]
 * @property {(items: object[]) => void} [onActivity]
 * @property {(reward: object) => void} [onReward]
 * @property {(season: number) => void} [onSeason]
 * @property {(change: {state: State, retryAt?: number, code?: number}) => void} [onState]
 */
/** @typedef {{close: () => void, resync: () => void, readonly top: Top | null, readonly state: State}} Connection */

const second = 1000;
const shortestWait = second / 2; // the first wait lies between 0 and this
const longestWait = 30 * second;
const restartWait = 5 * second; // 1012: everybody comes back at once, so spread out
const busyWait = 5 * second; // 1013: at least
const steadyAfter = 10 * second; // a connection that held so long was a good one
const silence = 45 * second; // then see whether anybody is there
const patience = 8 * second; // for an answer

const policyViolation = 1008;
const tooBig = 1009;
const restarting = 1012;
const tryLater = 1013;
const refusals = 3; // fresh tokens to try in a row

/**
 * Reads a frame. Points become texts before a number could round them. A quotation mark inside a text is always
 * escaped, so what matches is a key; what is in a reward is not ours to change.
 *
 * @param {string} text
 * @returns {any}
 */
export function readFrame(text) {
  const exact = text.startsWith('{"type":"reward"')
    ? text
    : text.replace(/"(points|previous_points|to_next)":(-?\d+(?:\.\d+)?)/g, '"$1":"$2"');
  return JSON.parse(exact);
}

/**
 * Returns the entries after a delta: takes out what left or changed, puts in what changed by rank, best first, and
 * counts the ranks anew.
 *
 * @param {Entry[]} entries
 * @param {{changed: Entry[], removed: string[]}} delta
 * @param {number} limit
 * @returns {Entry[]}
 */
export function applyDelta(entries, { changed, removed }, limit) {
  if (changed.length === 0 && removed.length === 0) return entries;
  const out = new Set(removed);
  for (const entry of changed) out.add(entry.player);
  const rest = entries.filter((entry) => !out.has(entry.player));
  for (const entry of [...changed].sort((a, b) => a.rank - b.rank)) rest.splice(entry.rank - 1, 0, entry);
  return rest.slice(0, limit).map((entry, i) => (entry.rank === i + 1 ? entry : { ...entry, rank: i + 1 }));
}

/**
 * Returns how long to wait before coming back, in milliseconds: anywhere between nothing and a bound that doubles, so
 * that many clients that were cut off together do not come back together.
 *
 * @param {number} attempt how many waits there were before, from 0
 * @param {number} code with which the connection closed
 * @param {number} random 0 to 1
 */
export function waitBefore(attempt, code, random) {
  const bound = Math.min(longestWait, shortestWait * 2 ** attempt);
  if (code === restarting) return random * Math.max(restartWait, bound);
  if (code === tryLater) return busyWait + random * Math.max(busyWait, bound);
  return random * bound;
}

/**
 * Watches a board until close is called.
 *
 * @param {Options} options
 * @returns {Connection}
 */
export function connect(options) {
  return new Watcher(options);
}

class Watcher {
  /** @type {Top | null} */ top = null;
  /** @type {State} */ state = "closed";
  /** @type {WebSocket | null} */ #socket = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #retry;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #watchdog;
  #attempt = 0;
  #refused = 0;
  #synced = false; // deltas apply
  #steadySince = 0;
  #heardAt = 0;
  #ears = new AbortController();

  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.limit = options.limit ?? 10;
    if (typeof addEventListener === "function") this.#listen();
    this.#open();
  }

  close() {
    this.#ears.abort();
    this.#leave();
    this.#become("closed");
  }

  /** Asks for the whole top. */
  resync() {
    if (this.#socket?.readyState !== 1) return;
    this.#synced = false;
    this.#say({ type: "resync" });
    this.#expect();
  }

  #listen() {
    const { signal } = this.#ears;
    addEventListener("offline", () => {
      this.#leave();
      this.#become("offline");
    }, { signal });
    addEventListener("online", () => this.#openNow(), { signal });
    globalThis.document?.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      if (this.state === "waiting") this.#openNow();
      else if (Date.now() - this.#heardAt > patience) this.#probe();
    }, { signal });
  }

  #address() {
    const base = this.options.url ?? import.meta.url;
    const address = new URL(`/ws/boards/${encodeURIComponent(this.options.board)}`, base);
    address.protocol = address.protocol === "http:" ? "ws:" : "wss:";
    address.searchParams.set("limit", String(this.limit));
    if (this.options.player) address.searchParams.set("player", this.options.player);
    return address;
  }

  #openNow() {
    if (this.state !== "offline" && this.state !== "waiting") return;
    this.#leave();
    this.#open();
  }

  #open() {
    const socket = new WebSocket(this.#address());
    this.#socket = socket;
    this.#steadySince = 0;
    if (this.state !== "waiting") this.#become("connecting");
    socket.onopen = () => {
      if (socket !== this.#socket) return;
      if (this.top) this.#become("catching");
      this.#authenticate(socket);
    };
    socket.onmessage = ({ data }) => {
      if (socket === this.#socket) this.#hear(data);
    };
    socket.onclose = ({ code }) => {
      if (socket === this.#socket) this.#lost(code);
    };
    this.#expect();
  }

  /** @param {WebSocket} socket */
  async #authenticate(socket) {
    const { token } = this.options;
    if (!token) return;
    try {
      const text = typeof token === "function" ? await token() : token;
      if (socket === this.#socket) this.#say({ type: "auth", token: text });
    } catch {
      if (socket === this.#socket) this.#lost(0);
    }
  }

  /** @param {object} frame */
  #say(frame) {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(frame));
  }

  /** @param {string} data */
  #hear(data) {
    this.#heardAt = Date.now();
    const frame = readFrame(data);
    const { options } = this;
    switch (frame.type) {
      case "snapshot": return this.#snapshot(frame);
      case "delta": return this.#delta(frame);
      case "season":
        this.#synced = false;
        this.#become("catching");
        this.#expect();
        return options.onSeason?.(frame.season);
      case "you": return options.onYou?.({ entry: frame.entry, total: frame.total });
      case "activity": return options.onActivity?.(frame.items);
      case "reward": return options.onReward?.(frame);
    }
  }

  /** @param {Snapshot} frame */
  #snapshot(frame) {
    const { season, epoch, version, total, entries } = frame;
    this.top = { season, epoch, version, total, entries: entries.slice(0, this.limit) };
    this.#synced = true;
    this.#refused = 0;
    this.#steadySince ||= Date.now();
    this.#become("live");
    this.#rest();
    this.options.onTop?.(this.top, frame);
  }

  /** @param {Delta} frame */
  #delta(frame) {
    if (!this.#synced || !this.top) return;
    if (frame.from !== this.top.version) {
      this.#become("catching");
      return this.resync();
    }
    const entries = applyDelta(this.top.entries, frame, this.limit);
    this.top = { ...this.top, version: frame.version, total: frame.total, entries };
    this.#rest();
    this.options.onTop?.(this.top, frame);
  }

  // Nothing is due for a while. A connection may die without a word: after a long silence, ask.
  #rest() {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#probe(), silence * (1 + Math.random() / 3));
  }

  #probe() {
    if (this.state !== "live") return;
    this.#say({ type: "resync" });
    this.#expect();
  }

  // A snapshot is due. If none comes, the connection is dead.
  #expect() {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#lost(0), patience);
  }

  /** @param {number} code */
  #lost(code) {
    const held = this.#steadySince && Date.now() - this.#steadySince > steadyAfter;
    this.#leave();
    if (held) this.#attempt = 0;
    if (code === tooBig || (code === policyViolation && !this.#mayRenew())) {
      this.#ears.abort();
      return this.#become("refused", { code });
    }
    const wait = waitBefore(this.#attempt++, code, Math.random());
    this.#retry = setTimeout(() => this.#open(), wait);
    this.#become("waiting", { retryAt: Date.now() + wait, code });
  }

  // A token may just have run out: whoever can make a fresh one may come again.
  #mayRenew() {
    return typeof this.options.token === "function" && this.#refused++ < refusals;
  }

  #leave() {
    clearTimeout(this.#retry);
    clearTimeout(this.#watchdog);
    const socket = this.#socket;
    this.#socket = null;
    this.#synced = false;
    socket?.close(1000);
  }

  /**
   * @param {State} state
   * @param {{retryAt?: number, code?: number}} [more]
   */
  #become(state, more) {
    if (state === this.state && !more) return;
    this.state = state;
    this.options.onState?.({ state, ...more });
  }
}
