import { ReadingThread } from "@xdskit/api/threads";
import { manualClock } from "../../testing/manual-clock.js";
import { testContext } from "../../testing/scripted/recorded-upstream.js";
import { settle } from "../../testing/settle.js";
import { type StateTable, testStates } from "../../testing/state-table.js";
import { cds, clusters } from "../../testing/watched-files.js";
import type { UpstreamSink } from "../contract/upstream.js";
import { TypeFile } from "./type-file.js";
import type { FileLook, WatchedFileOptions } from "./watched-file.js";

const context = testContext({ clock: manualClock() });
const reading = new ReadingThread();

/** A file of clusters whose looks the test makes. `told` has what went out. */
function typeFile() {
  const told: string[] = [];
  let onLook: WatchedFileOptions["onLook"] | undefined;
  let meanwhile = () => {};
  const sink: UpstreamSink = {
    attempting() {
      told.push("attempting");
      meanwhile();
    },
    connected: () => void told.push("connected"),
    disconnected: () => void told.push("disconnected"),
    failed: (_, __, nack) => void told.push(nack ? "nack" : "failed"),
    responded: (_, good) => void told.push(`responded ${good ?? ""}`.trim()),
    update: ({ upserted }) => void told.push(`update ${upserted.length}`),
    acknowledge: undefined,
    rejected: () => void told.push("rejected"),
  };
  const file = new TypeFile(cds, "cds.json", undefined, context, sink, reading, (options) => {
    onLook = options.onLook;
    told.push("open");
    return { close: async () => void told.push("shut") };
  });
  return {
    told,
    file,
    async look(look: FileLook): Promise<void> {
      if ((await onLook?.(look)) === false) told.push("not usable");
    },
    /** Runs it while the client is telling its current resources. */
    while(does: () => void): void {
      meanwhile = () => {
        meanwhile = () => {};
        does();
      };
    },
  };
}

type One = ReturnType<typeof typeFile>;

const read = (text: string, isNew: boolean) => (one: One) =>
  one.look({ kind: "read", bytes: new TextEncoder().encode(text), isNew });
const good = read(clusters("1", "a"), true);
const subscribe = ({ file }: One) => file.subscribe(["a"]);
const leave = ({ file }: One) => file.unsubscribe(["a"]);

const events = {
  subscribe,
  "subscribe, left meanwhile"(one: One) {
    one.while(() => leave(one));
    subscribe(one);
  },
  "subscribe, closed meanwhile"(one: One) {
    one.while(() => void one.file.close());
    subscribe(one);
  },
  leave,
  good,
  "good, asked again meanwhile"(one: One) {
    one.while(() => {
      leave(one);
      subscribe(one);
    });
    return good(one);
  },
  "good, left meanwhile"(one: One) {
    one.while(() => leave(one));
    return good(one);
  },
  "good, closed meanwhile"(one: One) {
    one.while(() => void one.file.close());
    return good(one);
  },
  "good, left before it is parsed": async (one: One) => {
    const looked = good(one);
    leave(one);
    await looked;
  },
  same: read(clusters("1", "a"), false),
  bad: read("{", true),
  unreadable: (one: One) => one.look({ kind: "unreadable", reason: "it does not exist" }),
  unwatched: (one: One) => one.look({ kind: "unwatched", reason: "the folder" }),
  close: ({ file }: One) => file.close(),
} satisfies Readonly<Record<string, (one: One) => void | Promise<void>>>;

type Event = keyof typeof events;

const reach = {
  idle: [],
  opened: ["subscribe"],
  good: ["subscribe", "good"],
  "bad at first": ["subscribe", "bad"],
  "bad after good": ["subscribe", "good", "bad"],
  "unreadable at first": ["subscribe", "unreadable"],
  "unreadable after good": ["subscribe", "good", "unreadable"],
  closed: ["subscribe", "good", "close"],
} satisfies Readonly<Record<string, readonly Event[]>>;

const table: StateTable<keyof typeof reach, keyof typeof events>["table"] = {
  idle: {
    subscribe: ["opened", "attempting", "open"],
    "subscribe, left meanwhile": ["idle", "attempting"],
    "subscribe, closed meanwhile": ["closed", "attempting"],
    leave: ["idle"],
    good: ["idle"],
    unwatched: ["idle"],
    close: ["closed"],
  },
  opened: {
    subscribe: ["opened"],
    leave: ["idle", "shut"],
    good: ["good", "connected", "responded 1", "update 1"],
    "good, left before it is parsed": ["idle", "shut"],
    bad: ["bad at first", "nack", "not usable"],
    unreadable: ["unreadable at first", "failed"],
    unwatched: ["opened", "failed"],
    close: ["closed", "shut"],
  },
  good: {
    subscribe: ["good", "responded 1"],
    leave: ["idle", "shut", "disconnected"],
    good: ["good", "responded 1"],
    "good, left before it is parsed": ["idle", "shut", "disconnected"],
    same: ["good", "responded 1"],
    bad: ["bad after good", "nack", "not usable"],
    unreadable: ["unreadable after good", "failed"],
    unwatched: ["good", "failed", "responded"],
    close: ["closed", "shut"],
  },
  "bad at first": {
    subscribe: ["bad at first"],
    leave: ["idle", "shut"],
    good: ["good", "connected", "responded 1", "update 1"],
    same: ["bad at first", "not usable"],
    bad: ["bad at first", "nack", "not usable"],
    unreadable: ["unreadable at first", "failed"],
    unwatched: ["bad at first", "failed"],
    close: ["closed", "shut"],
  },
  "bad after good": {
    subscribe: ["bad after good", "responded 1"],
    leave: ["idle", "shut", "disconnected"],
    good: ["good", "responded 1"],
    same: ["bad after good", "not usable"],
    bad: ["bad after good", "nack", "not usable"],
    unreadable: ["unreadable after good", "failed"],
    unwatched: ["bad after good", "failed", "responded"],
    close: ["closed", "shut"],
  },
  "unreadable at first": {
    subscribe: ["unreadable at first"],
    leave: ["idle", "shut"],
    good: ["good", "attempting", "connected", "responded 1", "update 1"],
    "good, asked again meanwhile": ["good", "attempting", "connected", "responded 1", "update 1"],
    "good, left meanwhile": ["idle", "attempting", "shut"],
    "good, closed meanwhile": ["closed", "attempting", "shut"],
    bad: ["bad at first", "attempting", "nack", "not usable"],
    unreadable: ["unreadable at first", "failed"],
    unwatched: ["unreadable at first", "failed"],
    close: ["closed", "shut"],
  },
  "unreadable after good": {
    subscribe: ["unreadable after good"],
    leave: ["idle", "shut", "disconnected"],
    good: ["good", "attempting", "responded 1"],
    "good, asked again meanwhile": ["good", "attempting", "responded 1", "update 1"],
    "good, left meanwhile": ["idle", "attempting", "shut", "disconnected"],
    "good, closed meanwhile": ["closed", "attempting", "shut"],
    bad: ["bad after good", "attempting", "nack", "not usable"],
    unreadable: ["unreadable after good", "failed"],
    unwatched: ["unreadable after good", "failed"],
    close: ["closed", "shut"],
  },
  closed: {
    subscribe: ["closed"],
    leave: ["closed"],
    good: ["closed"],
    unreadable: ["closed"],
    unwatched: ["closed"],
    close: ["closed"],
  },
};

testStates("a file of one type", {
  reach,
  table,
  async last(all) {
    const one = typeFile();
    for (const event of all) {
      one.told.length = 0;
      await events[event](one);
      await settle();
    }
    const told = [...one.told];
    await one.file.close();
    return told;
  },
});
