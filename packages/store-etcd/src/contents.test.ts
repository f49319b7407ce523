import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contentKey } from "@xdskit/server/tables";
import type { EtcdClient } from "./client/etcd-client.js";
import type { Range, Transaction } from "./client/messages.js";
import { readContents } from "./contents.js";
import { Keys } from "./keys.js";

const keys = new Keys("/a");

/** Answers each range with one content, and notes how often it was asked to count. */
function client() {
  const asked = { counts: 0 };
  const found = ({ key }: Range) => ({ key: `${key}0`, value: Buffer.from("bytes"), writtenAt: 1 });
  const answer = (range: Range) => ({ found: [found(range)], more: false, count: 1_000, revision: 1 });
  const made = {
    range: async (range: Range) => {
      if (range.countOnly === true) asked.counts += 1;
      return answer(range);
    },
    transaction: async ({ operations }: Transaction) => ({
      succeeded: true,
      cluster: "1",
      revision: 1,
      ranges: operations.flatMap((one) => (one.kind === "range" ? [answer(one.range)] : [])),
    }),
  };
  return { client: made as unknown as EtcdClient, asked };
}

function names(count: number) {
  return Array.from({ length: count }, (_, index) => ({ type: "a type", key: `${index}`, version: "1" }));
}

describe("contents in etcd", () => {
  it("are read one by one without counting all of them", async () => {
    const { client: one, asked } = client();
    const [bytes] = await readContents(one, keys, names(1));
    assert.equal(Buffer.from(bytes ?? []).toString(), "bytes");
    assert.equal(asked.counts, 0);
    assert.equal(contentKey("a type", "0", "1").includes("/"), false);
  });

  it("are counted where many are wanted: it may cost less to read all", async () => {
    const { client: one, asked } = client();
    assert.equal((await readContents(one, keys, names(300))).filter((bytes) => bytes !== undefined).length, 300);
    assert.equal(asked.counts, 1);
  });
});
