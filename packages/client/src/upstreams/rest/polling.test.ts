import { resourceTypes } from "@xdskit/api";
import { ReadingThread } from "@xdskit/api/threads";
import { createClientStream } from "@xdskit/protocol";
import { manualClock } from "../../testing/manual-clock.js";
import { testContext } from "../../testing/scripted/recorded-upstream.js";
import { settle } from "../../testing/settle.js";
import { type StateTable, testStates } from "../../testing/state-table.js";
import { cds } from "../../testing/watched-files.js";
import type { UpstreamSink } from "../contract/upstream.js";
import { Polling } from "./polling.js";
import type { HttpAnswer, Poster } from "./poster.js";
import { createUnreadResources } from "./unread-resources.js";

/** The least time between two polls, the usual one, and what a failing server asks for. */
const gapMs = 100;
const refreshDelayMs = 1_000;
const retryAfterMs = 5_000;

/** The polls of clusters, whose server, clock and watchers are in the test's hands. `told` has what went out. */
function polling() {
  const told: string[] = [];
  const clock = manualClock();
  const context = testContext({ clock, random: () => 0, backoff: { firstMs: 1, factor: 1, maxMs: 1, jitter: 0 } });
  let meanwhile = () => {};
  let taken = () => {};
  const sink: UpstreamSink = {
    attempting() {
      told.push("attempting");
      meanwhile();
    },
    connected: () => void told.push("connected"),
    disconnected: (_, error) => void told.push(error === undefined ? "disconnected" : "disconnected by an error"),
    failed: () => void told.push("failed"),
    responded: () => {},
    update({ upserted }) {
      told.push(`update ${upserted.map(({ name }) => name)}`);
      return new Promise((resolve) => {
        taken = resolve;
      });
    },
    acknowledge: undefined,
    rejected: () => void told.push("rejected"),
  };
  let answer: (answer: HttpAnswer) => void = () => {};
  const poster: Poster = {
    server: "http://one",
    post(_, body, { signal }) {
      told.push(`poll ${JSON.parse(body.toString()).resourceNames}`);
      return new Promise((resolve, reject) => {
        answer = resolve;
        signal.addEventListener("abort", () => {
          told.push("give up");
          reject(signal.reason);
        });
      });
    },
    withoutSecrets: (text) => text,
    close() {},
  };
  const own = { types: resourceTypes, only: cds, node: context.node, nodeOn: "every", check: undefined } as const;
  const polling = new Polling({
    type: cds,
    path: "/v3/discovery:clusters",
    api: "v3",
    refreshDelayMs,
    machine: createClientStream({ variant: "sotw", api: "v3", ...own }),
    poster,
    unread: createUnreadResources(undefined),
    reading: new ReadingThread({ types: resourceTypes }),
    context,
    sink,
  });
  const wanted = new Set<string>();
  let version = 0;
  return {
    told,
    clock,
    subscribe(name: string) {
      wanted.add(name);
      polling.tell({ kind: "subscribe", type: cds, names: [name] });
    },
    leave() {
      const names = [...wanted];
      wanted.clear();
      if (names.length > 0) polling.tell({ kind: "unsubscribe", type: cds, names });
    },
    close: () => void polling.close().then(() => told.push("closed")),
    /** Runs it while the client is telling its current resources. */
    while(does: () => void): void {
      meanwhile = () => {
        meanwhile = () => {};
        does();
      };
    },
    good() {
      version += 1;
      const one = { "@type": cds.typeUrl, name: "a", altStatName: String(version) };
      const body = { versionInfo: String(version), nonce: "n", typeUrl: cds.typeUrl, resources: [one] };
      answer({ status: 200, statusText: "OK", headers: {}, body: Buffer.from(JSON.stringify(body)) });
    },
    bad() {
      const headers = { "retry-after": String(retryAfterMs / 1_000) };
      answer({ status: 503, statusText: "Service Unavailable", headers, body: Buffer.of() });
    },
    taken: () => taken(),
  };
}

type One = ReturnType<typeof polling>;

const events = {
  subscribe: (one) => one.subscribe("a"),
  "subscribe to b": (one) => one.subscribe("b"),
  "subscribe, left meanwhile"(one) {
    one.while(one.leave);
    one.subscribe("a");
  },
  "subscribe, closed meanwhile"(one) {
    one.while(one.close);
    one.subscribe("a");
  },
  leave: (one) => one.leave(),
  "leave, and come back"(one) {
    one.leave();
    one.subscribe("a");
  },
  answer: (one) => one.good(),
  "answer with 503": (one) => one.bad(),
  "the watchers are done": (one) => one.taken(),
  "0.1 s go by": ({ clock }) => clock.advance(gapMs),
  "1 s goes by": ({ clock }) => clock.advance(refreshDelayMs),
  "1 s goes by, left meanwhile"(one) {
    one.while(one.leave);
    one.clock.advance(refreshDelayMs);
  },
  "5 s go by": ({ clock }) => clock.advance(retryAfterMs),
  "5 s go by, closed meanwhile"(one) {
    one.while(one.close);
    one.clock.advance(retryAfterMs);
  },
  close: (one) => one.close(),
} satisfies Readonly<Record<string, (one: One) => void>>;

type Event = keyof typeof events;

const reach = {
  idle: [],
  "idle, polled lately": ["subscribe", "leave"],
  "idle, failed lately": ["subscribe", "answer with 503", "leave"],
  "waiting for the gap": ["subscribe", "leave", "subscribe"],
  asking: ["subscribe"],
  "asking without b": ["subscribe", "subscribe to b"],
  "given up, and wanted again": ["subscribe", "leave, and come back"],
  taking: ["subscribe", "answer"],
  "taking, b is new": ["subscribe", "answer", "subscribe to b"],
  "taking, left": ["subscribe", "answer", "leave"],
  waiting: ["subscribe", "answer", "the watchers are done"],
  "waiting, the gap is over": ["subscribe", "answer", "the watchers are done", "0.1 s go by"],
  "waiting for the gap with b": ["subscribe", "answer", "the watchers are done", "subscribe to b"],
  "asking again": ["subscribe", "answer", "the watchers are done", "1 s goes by"],
  "waiting after an error": ["subscribe", "answer with 503"],
  "waiting after an error, b is new": ["subscribe", "answer with 503", "subscribe to b"],
  closing: ["subscribe", "answer", "close"],
  closed: ["subscribe", "close"],
} satisfies Readonly<Record<string, readonly Event[]>>;

const table: StateTable<keyof typeof reach, Event>["table"] = {
  idle: {
    subscribe: ["asking", "attempting", "poll a"],
    "subscribe, left meanwhile": ["idle", "attempting"],
    "subscribe, closed meanwhile": ["closed", "attempting", "closed"],
    leave: ["idle"],
    "leave, and come back": ["asking", "attempting", "poll a"],
    close: ["closed", "closed"],
  },
  "idle, polled lately": {
    subscribe: ["waiting for the gap"],
    "leave, and come back": ["waiting for the gap"],
    "0.1 s go by": ["idle"],
    close: ["closed", "closed"],
  },
  "idle, failed lately": {
    subscribe: ["waiting after an error"],
    "leave, and come back": ["waiting after an error"],
    "0.1 s go by": ["idle, failed lately"],
    "1 s goes by": ["idle, failed lately"],
    "5 s go by": ["idle"],
    close: ["closed", "closed"],
  },
  "waiting for the gap": {
    leave: ["idle, polled lately"],
    "leave, and come back": ["waiting for the gap"],
    "0.1 s go by": ["asking", "attempting", "poll a"],
    "1 s goes by, left meanwhile": ["idle", "attempting"],
    close: ["closed", "closed"],
  },
  asking: {
    subscribe: ["asking"],
    "subscribe to b": ["asking without b"],
    leave: ["idle, polled lately", "give up"],
    "leave, and come back": ["given up, and wanted again", "give up"],
    answer: ["taking", "connected", "update a"],
    "answer with 503": ["waiting after an error", "failed"],
    "the watchers are done": ["asking"],
    close: ["closed", "give up", "closed"],
  },
  "asking without b": {
    leave: ["idle, polled lately", "give up"],
    answer: ["taking, b is new", "connected", "update a"],
    "answer with 503": ["waiting after an error, b is new", "failed"],
    "0.1 s go by": ["asking", "give up", "poll a,b"],
    close: ["closed", "give up", "closed"],
  },
  "given up, and wanted again": {
    leave: ["idle, polled lately"],
    answer: ["given up, and wanted again"],
    "0.1 s go by": ["asking", "poll a"],
    close: ["closed", "closed"],
  },
  taking: {
    "subscribe to b": ["taking, b is new"],
    leave: ["taking, left"],
    "leave, and come back": ["taking, b is new"],
    answer: ["taking"],
    "the watchers are done": ["waiting"],
    "1 s goes by": ["taking"],
    close: ["closing"],
  },
  "taking, b is new": {
    leave: ["taking, left"],
    "the watchers are done": ["waiting for the gap with b"],
    close: ["closing"],
  },
  "taking, left": {
    subscribe: ["taking"],
    "the watchers are done": ["idle, polled lately", "disconnected"],
    close: ["closing"],
  },
  waiting: {
    "subscribe to b": ["waiting for the gap with b"],
    leave: ["idle, polled lately", "disconnected"],
    "0.1 s go by": ["waiting, the gap is over"],
    "1 s goes by": ["asking again", "poll a"],
    close: ["closed", "closed"],
  },
  "waiting, the gap is over": {
    "subscribe to b": ["asking again", "poll a,b"],
    leave: ["idle", "disconnected"],
    "leave, and come back": ["asking again", "poll a"],
    close: ["closed", "closed"],
  },
  "waiting for the gap with b": {
    leave: ["idle, polled lately", "disconnected"],
    "0.1 s go by": ["asking again", "poll a,b"],
    close: ["closed", "closed"],
  },
  "asking again": {
    leave: ["idle, polled lately", "give up", "disconnected"],
    answer: ["taking", "update a"],
    "answer with 503": ["waiting after an error", "disconnected by an error", "failed"],
    close: ["closed", "give up", "closed"],
  },
  "waiting after an error": {
    subscribe: ["waiting after an error"],
    "subscribe to b": ["waiting after an error, b is new"],
    leave: ["idle, failed lately"],
    "leave, and come back": ["waiting after an error"],
    "0.1 s go by": ["waiting after an error"],
    "1 s goes by": ["waiting after an error"],
    "5 s go by": ["asking", "attempting", "poll a"],
    "5 s go by, closed meanwhile": ["closed", "attempting", "closed"],
    close: ["closed", "closed"],
  },
  "waiting after an error, b is new": {
    leave: ["idle, failed lately"],
    "1 s goes by": ["waiting after an error, b is new"],
    "5 s go by": ["asking", "attempting", "poll a,b"],
    close: ["closed", "closed"],
  },
  closing: {
    subscribe: ["closing"],
    leave: ["closing"],
    "the watchers are done": ["closed", "closed"],
  },
  closed: {
    subscribe: ["closed"],
    leave: ["closed"],
    answer: ["closed"],
    "5 s go by": ["closed"],
    close: ["closed", "closed"],
  },
};

testStates("the polls of a type", {
  reach,
  table,
  async last(all) {
    const one = polling();
    for (const event of all) {
      one.told.length = 0;
      events[event](one);
      await settle();
    }
    return one.told;
  },
});
