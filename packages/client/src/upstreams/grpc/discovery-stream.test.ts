import { resourceTypes } from "@xdskit/api";
import { createClientStream } from "@xdskit/protocol";
import { manualClock } from "../../testing/manual-clock.js";
import { scriptedTransport } from "../../testing/scripted/scripted-transport.js";
import { settle } from "../../testing/settle.js";
import { type StateTable, testStates } from "../../testing/state-table.js";
import { cds } from "../../testing/watched-files.js";
import type { UpstreamSink } from "../contract/upstream.js";
import { DiscoveryStream } from "./discovery-stream.js";

/** After the start of an attempt. */
const waitMs = 5_000;

/** A stream for all types, whose transport, clock and watchers are in the test's hands. `told` has what went out. */
function discoveryStream() {
  const told: string[] = [];
  const clock = manualClock();
  const transport = scriptedTransport(clock.now);
  let meanwhile = () => {};
  const sink: UpstreamSink = {
    attempting() {
      told.push("attempting");
      meanwhile();
    },
    connected: () => void told.push("connected"),
    disconnected: (_, error) => void told.push(error === undefined ? "disconnected" : `disconnected ${error.code}`),
    failed: () => void told.push("failed"),
    responded: (_, good) => void told.push(`responded ${good}`),
    update: () => {},
    acknowledge: undefined,
    rejected: () => void told.push("rejected"),
  };
  const backoff = { firstMs: waitMs, factor: 1, maxMs: waitMs, jitter: 0 };
  const node = new Uint8Array();
  const method = { variant: "delta", api: "v3", only: undefined } as const;
  const machine = createClientStream({ ...method, types: resourceTypes, node, nodeOn: "first", check: undefined });
  const context = { clock, random: () => 0.5, backoff };
  const stream = new DiscoveryStream({ server: "one:1", machine, method, transport, context, sink });
  const step = (kind: "subscribe" | "unsubscribe") =>
    stream.touched(machine.step({ kind, type: cds, names: ["a"] }, clock.now()));
  let streams = 0;
  let requests = 0;
  return {
    told,
    clock,
    transport,
    subscribe: () => step("subscribe"),
    leave: () => step("unsubscribe"),
    close: () => void stream.close().then(() => told.push("closed")),
    /** Runs it while the client is telling its current resources. */
    while(does: () => void): void {
      meanwhile = () => {
        meanwhile = () => {};
        does();
      };
    },
    /** What went out since the last call: to the sink, then to the server. */
    went(): readonly string[] {
      const opened = transport.streams.length - streams;
      // An attempt may follow what was the last word to the stream before.
      const log = transport.streams.flatMap((each) => each.log);
      const lines = [...told.splice(0), ...log.slice(requests), ...Array<string>(opened).fill("open")];
      streams += opened;
      requests = log.length;
      return lines;
    },
  };
}

type One = ReturnType<typeof discoveryStream>;

const events = {
  subscribe: (one) => one.subscribe(),
  "subscribe, left meanwhile"(one) {
    one.while(one.leave);
    one.subscribe();
  },
  "subscribe, closed meanwhile"(one) {
    one.while(one.close);
    one.subscribe();
  },
  leave: (one) => one.leave(),
  opened: ({ transport }) => transport.streams.at(-1)?.opened(),
  response: ({ transport }) => transport.streams.at(-1)?.respond("1", "a=1"),
  "broken response": ({ transport }) => transport.streams.at(-1)?.received(Uint8Array.of(0x0a, 0xff)),
  "ended with OK": ({ transport }) => transport.streams.at(-1)?.ended(0, ""),
  "ended with 14": ({ transport }) => transport.streams.at(-1)?.ended(14, "gone"),
  "a second goes by": ({ clock }) => clock.advance(1_000),
  "the wait goes by": ({ clock }) => clock.advance(waitMs),
  "the wait goes by, left meanwhile"(one) {
    one.while(one.leave);
    one.clock.advance(waitMs);
  },
  "the wait goes by, closed meanwhile"(one) {
    one.while(one.close);
    one.clock.advance(waitMs);
  },
  close: (one) => one.close(),
} satisfies Readonly<Record<string, (one: One) => void>>;

type Event = keyof typeof events;

const reach = {
  idle: [],
  "idle, tried lately": ["subscribe", "leave"],
  "backing off": ["subscribe", "ended with 14"],
  connecting: ["subscribe"],
  open: ["subscribe", "opened"],
  "open, and lingering": ["subscribe", "opened", "leave"],
  answered: ["subscribe", "opened", "response"],
  "answered, and lingering": ["subscribe", "opened", "response", "leave"],
  ending: ["subscribe", "opened", "response", "leave", "a second goes by"],
  "ending, wanted again": ["subscribe", "opened", "response", "leave", "a second goes by", "subscribe"],
  closing: ["subscribe", "opened", "response", "close"],
  closed: ["subscribe", "close"],
} satisfies Readonly<Record<string, readonly Event[]>>;

const table: StateTable<keyof typeof reach, keyof typeof events>["table"] = {
  idle: {
    subscribe: ["connecting", "attempting", "open"],
    "subscribe, left meanwhile": ["idle", "attempting"],
    "subscribe, closed meanwhile": ["closed", "attempting", "closed"],
    leave: ["idle"],
    close: ["closed", "closed"],
  },
  "idle, tried lately": {
    subscribe: ["backing off"],
    leave: ["idle, tried lately"],
    opened: ["idle, tried lately"],
    response: ["idle, tried lately"],
    "ended with 14": ["idle, tried lately"],
    "a second goes by": ["idle, tried lately"],
    "the wait goes by": ["idle"],
    close: ["closed", "closed"],
  },
  "backing off": {
    leave: ["idle, tried lately"],
    opened: ["backing off"],
    response: ["backing off"],
    "a second goes by": ["backing off"],
    "the wait goes by": ["connecting", "attempting", "open"],
    "the wait goes by, left meanwhile": ["idle", "attempting"],
    "the wait goes by, closed meanwhile": ["closed", "attempting", "closed"],
    close: ["closed", "closed"],
  },
  connecting: {
    leave: ["idle, tried lately", "cancel"],
    opened: ["open", "connected", "+a"],
    response: ["connecting"],
    "ended with OK": ["backing off", "failed"],
    "ended with 14": ["backing off", "failed"],
    "a second goes by": ["connecting"],
    close: ["closed", "closed", "cancel"],
  },
  open: {
    leave: ["open, and lingering", "-a"],
    opened: ["open"],
    response: ["answered", "responded 1", "ack 1"],
    "broken response": ["backing off", "disconnected 13", "failed", "cancel"],
    "ended with OK": ["backing off", "disconnected", "failed"],
    "ended with 14": ["backing off", "disconnected 14", "failed"],
    "a second goes by": ["open"],
    close: ["closing", "disconnected", "finish"],
  },
  "open, and lingering": {
    subscribe: ["open", "+a"],
    "broken response": ["idle, tried lately", "disconnected 13", "failed", "cancel"],
    "ended with OK": ["idle, tried lately", "disconnected", "failed"],
    "ended with 14": ["idle, tried lately", "disconnected 14", "failed"],
    "a second goes by": ["ending", "disconnected", "finish"],
    close: ["closing", "disconnected", "finish"],
  },
  answered: {
    leave: ["answered, and lingering", "-a"],
    opened: ["answered"],
    response: ["answered", "responded 1", "ack 1"],
    "broken response": ["backing off", "disconnected 13", "failed", "cancel"],
    "ended with OK": ["backing off", "disconnected"],
    "ended with 14": ["backing off", "disconnected 14"],
    "a second goes by": ["answered"],
    close: ["closing", "disconnected", "finish"],
  },
  "answered, and lingering": {
    subscribe: ["answered", "+a"],
    response: ["answered, and lingering", "responded 1", "ack 1"],
    "broken response": ["idle, tried lately", "disconnected 13", "failed", "cancel"],
    "ended with OK": ["idle, tried lately", "disconnected"],
    "ended with 14": ["idle, tried lately", "disconnected 14"],
    "a second goes by": ["ending", "disconnected", "finish"],
    close: ["closing", "disconnected", "finish"],
  },
  ending: {
    subscribe: ["ending, wanted again"],
    leave: ["ending"],
    opened: ["ending"],
    response: ["ending"],
    "broken response": ["ending"],
    "ended with OK": ["idle, tried lately"],
    "ended with 14": ["idle, tried lately"],
    "a second goes by": ["idle, tried lately", "cancel"],
    close: ["closing"],
  },
  "ending, wanted again": {
    leave: ["ending"],
    response: ["ending, wanted again"],
    "ended with OK": ["backing off"],
    "ended with 14": ["backing off"],
    "a second goes by": ["backing off", "cancel"],
    close: ["closing"],
  },
  closing: {
    subscribe: ["closing"],
    leave: ["closing"],
    response: ["closing"],
    "ended with OK": ["closed", "closed"],
    "ended with 14": ["closed", "closed"],
    "a second goes by": ["closed", "closed", "cancel"],
  },
  closed: {
    subscribe: ["closed"],
    leave: ["closed"],
    opened: ["closed"],
    response: ["closed"],
    "ended with 14": ["closed"],
    "the wait goes by": ["closed"],
    close: ["closed", "closed"],
  },
};

testStates("a stream to a server", {
  reach,
  table,
  async last(all) {
    const one = discoveryStream();
    for (const event of all) {
      one.went();
      events[event](one);
      await settle();
    }
    return one.went();
  },
});
