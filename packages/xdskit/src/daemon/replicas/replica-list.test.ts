import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createMemoryStore, type SharedKeys, type SharedListener } from "@xdskit/server";
import { waitFor } from "../../../../grpc-server/src/testing/wait-for.js";
import { withMethods } from "../../../../server/src/testing/with-methods.js";
import { ReplicaList } from "./replica-list.js";

const away = { code: "XDSKIT_STORE", severity: "error", message: "nobody answers" } as const;

function member(t: TestContext, shared: SharedKeys, name: string) {
  const gone: string[] = [];
  const self = { id: name, name, address: `unix:/${name}`, version: "1", since: 0 };
  const list = new ReplicaList({
    shared,
    self,
    joins: "always",
    returnMs: 500,
    beforeJoin: async () => {},
    gone: (replica) => gone.push(replica.name),
    problem: (finding) => assert.equal(finding, undefined),
  });
  t.after(() => list.close());
  return { gone, names: () => list.others.map((one) => one.name).join() };
}

/** Two servers of a store, and what the first one hears from it. */
async function two(t: TestContext) {
  const store = await createMemoryStore();
  t.after(() => store.close());
  const { shared } = store;
  let heard: SharedListener | undefined;
  const watched = withMethods(shared, {
    watch: (_prefix, listener) => {
      heard = listener;
      return { close: () => {} };
    },
  });
  const [a, b] = [member(t, watched, "a"), member(t, shared, "b")];
  await waitFor("the first is known", () => b.names() === "a");
  const entries = await shared.list("");
  heard?.entriesChanged(entries);
  assert.equal(a.names(), "b");
  return { a, entries, heard: heard ?? assert.fail() };
}

describe("the servers of a store that was away", () => {
  it("count as there until they have joined it again", async (t) => {
    const { a, entries, heard } = await two(t);
    heard.away(away);
    heard.entriesChanged([]);
    assert.deepEqual([a.names(), a.gone], ["b", []]);
    heard.entriesChanged(entries.map((entry) => ({ ...entry, version: `${entry.version} again` })));
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.deepEqual([a.names(), a.gone], ["b", []]);
    heard.entriesChanged([]);
    assert.deepEqual([a.names(), a.gone], ["", ["b"]]);
  });

  it("count as there while the store tells of the session that they have lost", async (t) => {
    const { a, entries, heard } = await two(t);
    heard.away(away);
    heard.entriesChanged(entries);
    heard.entriesChanged([]);
    assert.deepEqual([a.names(), a.gone], ["b", []]);
  });

  it("are gone in their time although the store goes away again and again", async (t) => {
    const { a, heard } = await two(t);
    for (let round = 0; round < 8; round += 1) {
      heard.away(away);
      heard.entriesChanged([]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.deepEqual([a.names(), a.gone], ["", ["b"]]);
  });

  it("are gone if they do not join it again", async (t) => {
    const { a, heard } = await two(t);
    heard.away(away);
    heard.entriesChanged([]);
    assert.deepEqual([a.names(), a.gone], ["b", []]);
    await waitFor("it is gone", () => a.names() === "");
    assert.deepEqual(a.gone, ["b"]);
  });
});
