import { resourceTypes } from "@xdskit/api";
import type { ClientEvent } from "@xdskit/client";
import { createServer } from "@xdskit/server";
import { type StateTable, testStates } from "../../../client/src/testing/state-table.js";
import { findInCache } from "./cached-start.js";
import { GroupKnown } from "./group-known.js";

const type = resourceTypes.find("cluster")!;
const collections = [{ type, name: "*" }];
const at = { server: "one:1", type: undefined } as const;

const events = {
  connected: (known) => heard(known, { kind: "connected", ...at }),
  "connected, a second stream": (known) => heard(known, { kind: "connected", server: at.server, type }),
  disconnected: (known) => heard(known, { kind: "disconnected", ...at, error: undefined }),
  "the first answers are there": (known) => known.started(),
  "all clusters are asked for": (known) => known.awaited.add(type, "*"),
  "all clusters came": (known) => known.awaited.delete(type, "*"),
  close: (known) => known.close(),
} satisfies Readonly<Record<string, (known: GroupKnown) => unknown>>;

type Event = keyof typeof events;

/** How many streams are up: two may lead to servers of one name. */
const streams = new WeakMap<GroupKnown, number>();

function heard(known: GroupKnown, event: ClientEvent): string | undefined {
  const count = (streams.get(known) ?? 0) + (event.kind === "connected" ? 1 : event.kind === "disconnected" ? -1 : 0);
  streams.set(known, Math.max(count, 0));
  return known.event(event, { status: () => [], isConnected: count > 0 }) ? "back" : undefined;
}

const reach = {
  "starting, away": [],
  "starting, connected": ["connected"],
  "started, connected": ["connected", "the first answers are there"],
  "started, connected twice": ["connected", "connected", "the first answers are there"],
  "started, and clusters are unknown": ["connected", "the first answers are there", "all clusters are asked for"],
  "started, away": ["the first answers are there"],
  "closed, away": ["close"],
  "closed, connected": ["connected", "close"],
} satisfies Readonly<Record<string, readonly Event[]>>;

/** Whether the origin is back; then whether a change begins to wait for a cluster that is missing. */
const table: StateTable<keyof typeof reach, Event>["table"] = {
  "starting, away": {
    connected: ["starting, connected", "back"],
    disconnected: ["starting, away"],
    "the first answers are there": ["started, away"],
    close: ["closed, away"],
  },
  "starting, connected": {
    disconnected: ["starting, away"],
    "the first answers are there": ["started, connected", "may come"],
    close: ["closed, connected"],
  },
  "started, connected": {
    connected: ["started, connected twice", "may come"],
    "connected, a second stream": ["started, connected twice", "may come"],
    disconnected: ["started, away"],
    "the first answers are there": ["started, connected", "may come"],
    "all clusters are asked for": ["started, and clusters are unknown"],
    close: ["closed, connected"],
  },
  "started, connected twice": {
    disconnected: ["started, connected", "may come"],
    close: ["closed, connected"],
  },
  "started, and clusters are unknown": {
    "all clusters came": ["started, connected", "may come"],
    close: ["closed, connected"],
  },
  "started, away": {
    connected: ["started, connected", "back", "may come"],
    disconnected: ["started, away"],
    close: ["closed, away"],
  },
  "closed, away": {
    connected: ["closed, connected", "back"],
    "the first answers are there": ["closed, away"],
    close: ["closed, away"],
  },
  "closed, connected": {
    disconnected: ["closed, away"],
    "the first answers are there": ["closed, connected"],
    close: ["closed, connected"],
  },
};

testStates("a group of a relay", {
  reach,
  table,
  async last(all) {
    const server = createServer();
    const options = { group: "all", layer: "upstream", server, holdMs: 1_000, collections, prefetch: false };
    const asks = { canAsk: () => true, report() {}, cache: undefined };
    const known = new GroupKnown({ ...options, ...asks }, await findInCache({ ...options, ...asks }));
    let said: unknown;
    for (const event of all) said = events[event](known);
    await server.close({ timeoutMs: 0 });
    const mayCome = known.mayCome({ type: type.typeUrl, name: "a" });
    return [said, mayCome ? "may come" : undefined].filter((each) => typeof each === "string");
  },
});
