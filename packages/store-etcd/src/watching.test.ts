import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EtcdClient } from "./client/etcd-client.js";
import type { KeyValue, Range, Transaction } from "./client/messages.js";
import { Keys } from "./keys.js";
import { type EntriesListener, Watching } from "./watching.js";

const keys = new Keys("/a");
const allShared = { of: "shared", prefix: "" } as const;

function isOfValues({ key, keysOnly = false }: Range): boolean {
  return key.startsWith(keys.shared()) && !keysOnly;
}

/** A watching, and the entries that its etcd has. */
function watching(t: TestContext) {
  const etcd = { isAway: false, valuesTakeMs: 0, revision: 1, entries: new Map<string, KeyValue>() };
  const valuesRead: string[] = [];
  const put = (name: string, value: string) => {
    etcd.revision += 1;
    const key = keys.shared(name);
    etcd.entries.set(key, { key, value: Buffer.from(value), writtenAt: etcd.revision });
  };
  const answer = ({ key, end, keysOnly = false }: Range) => {
    const found = [...etcd.entries.values()].filter(
      (one) => one.key === key || (one.key > key && one.key < (end ?? key)),
    );
    if (!keysOnly) valuesRead.push(...found.map((one) => one.key.slice(keys.shared().length)));
    return {
      found: found.map((one) => (keysOnly ? { ...one, value: Buffer.alloc(0) } : one)),
      more: false,
      count: found.length,
      revision: etcd.revision,
    };
  };
  const client = {
    current: "a",
    transaction: async ({ compare, operations }: Transaction, timeoutMs = 5_000) => {
      const hasValues = operations.some((one) => one.kind === "range" && isOfValues(one.range));
      if (etcd.isAway || (hasValues && timeoutMs < etcd.valuesTakeMs)) throw new Error("no member answers");
      const succeeded = compare.every(
        (one) => "writtenAt" in one && etcd.entries.get(one.key)?.writtenAt === one.writtenAt,
      );
      const ranges = succeeded ? operations.flatMap((one) => (one.kind === "range" ? [answer(one.range)] : [])) : [];
      return { succeeded, cluster: "1", revision: etcd.revision, ranges };
    },
    watch: () => () => {},
  };
  const made = new Watching(client as unknown as EtcdClient, keys);
  t.after(() => made.close());
  const heard: string[] = [];
  const listener: EntriesListener = {
    entriesChanged: (shared) => heard.push(shared.map(({ value }) => Buffer.from(value).toString()).join()),
    away: ({ message }) => heard.push(message),
  };
  const look = async () => {
    made.look();
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  };
  return { made, etcd, valuesRead, put, heard, listener, look };
}

describe("the watching of a store in etcd", () => {
  it("tells a new listener that the store is away", async (t) => {
    const { made, etcd, heard, listener, look } = watching(t);
    etcd.isAway = true;
    made.add(allShared, { entriesChanged: () => {}, away: () => {} });
    await look();
    made.add(allShared, listener);
    await look();
    assert.deepEqual(heard, ["no member answers"]);
    etcd.isAway = false;
    await look();
    assert.deepEqual(heard, ["no member answers", ""]);
  });

  it("reads of what is shared only the values that it does not know", async (t) => {
    const { made, etcd, valuesRead, put, heard, listener, look } = watching(t);
    put("large", "1");
    put("small", "1");
    made.add(allShared, listener);
    await look();
    put("small", "2");
    put("third", "1");
    await look();
    etcd.entries.delete(keys.shared("large"));
    await look();
    assert.deepEqual(heard, ["1,1", "1,2,1", "2,1"]);
    assert.deepEqual(valuesRead, ["large", "small", "small", "third"]);
  });

  it("gives values, which may be large, more time than names", async (t) => {
    const { made, etcd, put, heard, listener, look } = watching(t);
    etcd.valuesTakeMs = 3_000;
    put("large", "1");
    made.add(allShared, listener);
    await look();
    put("large", "2");
    await look();
    assert.deepEqual(heard, ["1", "2"]);
  });
});
