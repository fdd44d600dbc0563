// The client's tests, for node's own runner: node --test static/leaderboard.test.mjs

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, mock, test } from "node:test";

import { applyDelta, connect, readFrame, waitBefore } from "./leaderboard.js";

const entry = (rank, player, points = String(1000 - rank)) => ({ rank, player, name: null, points, achieved_at: "2026-05-03T12:00:00Z" });
const board = (...players) => players.map((player, i) => entry(i + 1, player));
const order = (entries) => entries.map((e) => `${e.rank}${e.player}`).join(" ");

describe("a delta", () => {
  const cases = [
    ["lets one climb past others", { changed: [entry(2, "d")], removed: [] }, "1a 2d 3b 4c"],
    ["lets one fall to the end", { changed: [entry(4, "a")], removed: [] }, "1b 2c 3d 4a"],
    ["takes one out", { changed: [], removed: ["b"] }, "1a 2c 3d"],
    ["puts a new one in, and the last one out", { changed: [entry(1, "e")], removed: [] }, "1e 2a 3b 4c"],
    ["puts several in, whatever their order in the frame", { changed: [entry(3, "e"), entry(1, "d")], removed: ["a"] }, "1d 2b 3e 4c"],
    ["fills up behind the last", { changed: [entry(4, "e")], removed: ["d"] }, "1a 2b 3c 4e"],
    ["changes a row where it stands", { changed: [entry(2, "b", "7")], removed: [] }, "1a 2b 3c 4d"],
  ];
  for (const [name, delta, want] of cases) {
    test(name, () => assert.equal(order(applyDelta(board("a", "b", "c", "d"), delta, 4)), want));
  }

  test("without rows leaves the very list", () => {
    const entries = board("a", "b");
    assert.equal(applyDelta(entries, { changed: [], removed: [] }, 2), entries);
  });

  test("leaves the list that it was applied to as it was", () => {
    const entries = board("a", "b", "c");
    applyDelta(entries, { changed: [entry(1, "c")], removed: ["b"] }, 3);
    assert.equal(order(entries), "1a 2b 3c");
  });

  test("after delta ends where the server is, over random histories", () => {
    const random = generator(7);
    for (let history = 0; history < 50; history++) {
      let points = new Map();
      let shown = [];
      for (let step = 0; step < 60; step++) {
        points = new Map(points);
        for (let n = 0; n <= random() * 3; n++) {
          const player = `p${Math.floor(random() * 14)}`;
          if (random() < 0.15) points.delete(player);
          else points.set(player, Math.floor(random() * 30));
        }
        const truth = top(points, 8);
        shown = applyDelta(shown, difference(shown, truth), 8);
        assert.deepEqual(shown, truth);
      }
    }
  });
});

// The first places of a board, as the server would send them.
function top(points, limit) {
  const sorted = [...points].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return sorted.slice(0, limit).map(([player, p], i) => entry(i + 1, player, String(p)));
}

// The least that leads from one list to the other: rows outside the longest run that kept its order, or that differ.
function difference(from, to) {
  const old = new Map(from.map((e) => [e.player, e]));
  const kept = longestRun(to.filter((e) => old.get(e.player)?.points === e.points), (e) => old.get(e.player).rank);
  return {
    changed: to.filter((e) => !kept.has(e.player)),
    removed: from.filter((e) => !to.some((t) => t.player === e.player)).map((e) => e.player),
  };
}

function longestRun(entries, place) {
  const best = entries.map(() => []);
  entries.forEach((e, i) => {
    for (let j = 0; j < i; j++) if (place(entries[j]) < place(e) && best[j].length > best[i].length) best[i] = best[j];
    best[i] = [...best[i], e.player];
  });
  return new Set(best.reduce((a, b) => (b.length > a.length ? b : a), []));
}

function generator(seed) {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

describe("a frame", () => {
  test("keeps every digit of points", () => {
    const frame = readFrame('{"type":"you","entry":{"rank":1,"points":9007199254740.991,"to_next":0.10},"total":1}');
    assert.deepEqual(frame.entry, { rank: 1, points: "9007199254740.991", to_next: "0.10" });
  });

  test("keeps null where there is no next place", () => {
    assert.equal(readFrame('{"to_next":null}').to_next, null);
  });

  test("leaves a name alone that looks like points", () => {
    const name = 'x","points":1,"y';
    assert.equal(readFrame(JSON.stringify({ type: "snapshot", entries: [{ name, points: 2 }] })).entries[0].name, name);
  });

  test("leaves what is in a reward alone", () => {
    assert.deepEqual(readFrame('{"type":"reward","data":{"points":5}}').data, { points: 5 });
  });
});

describe("the wait before coming back", () => {
  test("lies below a bound that doubles up to half a minute", () => {
    assert.deepEqual([0, 1, 2, 5, 9, 2000].map((n) => waitBefore(n, 1006, 1)), [500, 1000, 2000, 16000, 30000, 30000]);
    assert.equal(waitBefore(9, 1006, 0), 0);
  });
  test("spreads out after a restart", () => assert.equal(waitBefore(0, 1012, 0.5), 2500));
  test("is longer when the server is full", () => assert.equal(waitBefore(0, 1013, 0), 5000));
});

describe("a connection", () => {
  /** @type {FakeSocket[]} */ let sockets;

  class FakeSocket {
    readyState = 0;
    sent = [];
    closed = 0;
    constructor(address) {
      this.address = new URL(address);
      sockets.push(this);
    }
    open() {
      this.readyState = 1;
      this.onopen();
    }
    hear(frame) { this.onmessage({ data: JSON.stringify(frame) }); }
    send(text) { this.sent.push(JSON.parse(text)); }
    close(code) { this.closed = code; }
    drop(code) {
      this.readyState = 3;
      this.onclose({ code });
    }
  }

  const snapshot = (version, ...players) => ({ type: "snapshot", board: "b", season: 1, epoch: "e", version, total: 9, entries: board(...players) });
  const delta = (from, version, changed = [], removed = []) => ({ type: "delta", from, version, total: 9, changed, removed });

  function watch(options = {}) {
    const states = [];
    const tops = [];
    const connection = connect({
      url: "https://boards.example", board: "b", limit: 3,
      onState: ({ state }) => states.push(state), onTop: (top) => tops.push(`${top.version}: ${order(top.entries)}`), ...options,
    });
    return { connection, states, tops };
  }

  beforeEach(() => {
    sockets = [];
    mock.timers.enable({ apis: ["setTimeout", "Date"] });
    globalThis.WebSocket = FakeSocket;
  });
  afterEach(() => mock.timers.reset());

  test("shows the snapshot and what follows", () => {
    const { states, tops } = watch({ player: "a b&c" });
    assert.equal(String(sockets[0].address), "wss://boards.example/ws/boards/b?limit=3&player=a+b%26c");
    sockets[0].open();
    sockets[0].hear(snapshot(1, "a", "b", "c"));
    sockets[0].hear(delta(1, 2, [entry(1, "c")]));
    assert.deepEqual(tops, ["1: 1a 2b 3c", "2: 1c 2a 3b"]);
    assert.deepEqual(states, ["connecting", "live"]);
  });

  test("asks anew after a gap, and waits for the answer", () => {
    const { states, tops } = watch();
    sockets[0].open();
    sockets[0].hear(snapshot(1, "a", "b"));
    sockets[0].hear(delta(2, 3, [entry(1, "x")]));
    sockets[0].hear(delta(3, 4, [entry(1, "y")]));
    assert.deepEqual(sockets[0].sent, [{ type: "resync" }]);
    sockets[0].hear(snapshot(4, "y", "x"));
    assert.deepEqual(tops, ["1: 1a 2b", "4: 1y 2x"]);
    assert.deepEqual(states, ["connecting", "live", "catching", "live"]);
  });

  test("takes deltas of a new season from its snapshot on only", () => {
    const seasons = [];
    const { tops } = watch({ onSeason: (season) => seasons.push(season) });
    sockets[0].open();
    sockets[0].hear(snapshot(1, "a"));
    sockets[0].hear({ type: "season", season: 2 });
    sockets[0].hear(delta(1, 2, [entry(1, "old")]));
    sockets[0].hear({ ...snapshot(2), season: 2 });
    assert.deepEqual([seasons, tops], [[2], ["1: 1a", "2: "]]);
  });

  test("hands on what is told about the player", () => {
    const heard = [];
    watch({ onYou: (you) => heard.push(you), onActivity: (items) => heard.push(items), onReward: (reward) => heard.push(reward.id) });
    sockets[0].open();
    sockets[0].hear({ type: "you", entry: null, total: 4 });
    sockets[0].hear({ type: "activity", items: [{ kind: "best" }] });
    sockets[0].hear({ type: "reward", id: "gold" });
    sockets[0].hear({ type: "of a later version" });
    assert.deepEqual(heard, [{ entry: null, total: 4 }, [{ kind: "best" }], "gold"]);
  });

  test("comes back when it was cut off", () => {
    const { states, tops } = watch();
    sockets[0].open();
    sockets[0].hear(snapshot(1, "a"));
    sockets[0].drop(1006);
    mock.timers.tick(500);
    sockets[1].open();
    sockets[1].hear(snapshot(5, "b"));
    assert.deepEqual(states, ["connecting", "live", "waiting", "catching", "live"]);
    assert.deepEqual(tops, ["1: 1a", "5: 1b"]);
  });

  test("gives up an attempt that leads nowhere", () => {
    watch();
    mock.timers.tick(8000);
    mock.timers.tick(500);
    assert.equal(sockets[0].closed, 1000);
    assert.equal(sockets.length, 2);
  });

  test("notices that a silent server is gone", () => {
    const { states } = watch();
    sockets[0].open();
    sockets[0].hear(snapshot(1, "a"));
    mock.timers.tick(60_000);
    assert.deepEqual(sockets[0].sent, [{ type: "resync" }]);
    mock.timers.tick(8000);
    assert.equal(states.at(-1), "waiting");
  });

  test("stays away when the server refuses it", () => {
    const { states } = watch({ token: "forged" });
    sockets[0].open();
    sockets[0].drop(1008);
    mock.timers.tick(600_000);
    assert.equal(sockets.length, 1);
    assert.equal(states.at(-1), "refused");
  });

  test("comes with a fresh token when one ran out", async () => {
    let made = 0;
    watch({ token: async () => `token${++made}` });
    sockets[0].open();
    await Promise.resolve();
    sockets[0].drop(1008);
    mock.timers.tick(500);
    sockets[1].open();
    await Promise.resolve();
    await Promise.resolve();
    assert.deepEqual(sockets.map((s) => s.sent), [[{ type: "auth", token: "token1" }], [{ type: "auth", token: "token2" }]]);
  });

  test("says its token in the first frame, never in the address", async () => {
    watch({ token: "secret" });
    sockets[0].open();
    await Promise.resolve();
    assert.deepEqual(sockets[0].sent, [{ type: "auth", token: "secret" }]);
    assert.doesNotMatch(String(sockets[0].address), /secret/);
  });

  test("ends with close", () => {
    const { connection, states, tops } = watch();
    sockets[0].open();
    connection.close();
    sockets[0].hear(snapshot(1, "a"));
    sockets[0].drop(1006);
    mock.timers.tick(600_000);
    assert.equal(sockets.length, 1);
    assert.equal(sockets[0].closed, 1000);
    assert.deepEqual([states, tops], [["connecting", "closed"], []]);
  });
});
