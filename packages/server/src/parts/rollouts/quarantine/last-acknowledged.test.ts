import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createResource } from "@xdskit/api";
import { emptySnapshot, NameSet, type ResourceSet, type TypeStatus, updateSnapshot } from "@xdskit/protocol";
import { waitFor } from "../../../testing/basics/wait-for.js";
import { judgingClient } from "../../../testing/clients/judging-client.js";
import { withMemoryServer } from "../../../testing/running-server.js";
import { testNode } from "../../../testing/test-node.js";
import { cluster } from "../../../testing/test-resources.js";
import type { Member } from "../members/member.js";
import { LastAcknowledged } from "./last-acknowledged.js";

const { type } = createResource(cluster("a"));
const setWith = (content: string): ResourceSet =>
  updateSnapshot(emptySnapshot(), { upsert: [createResource(cluster("a", content))] }).of(type);

/**
 * A stream that acknowledged one set, rejected another and has a third on its way; all of a line grow with each change
 * for as long as they are held.
 */
function goneStream(): { readonly member: Member; readonly held: readonly WeakRef<ResourceSet>[] } {
  const [after, way] = [setWith("bad"), setWith("worse")];
  const about = { version: "v", at: 0 };
  const rejected = { ...about, nonce: "1", code: 3, message: "no", blamed: undefined, usesRest: false };
  const status: TypeStatus = {
    type,
    api: "v3",
    subscription: { wildcard: true, names: NameSet.empty },
    wanted: way,
    meanwhile: way,
    waits: [],
    untoldTtls: 0,
    sent: { ...about, published: undefined, set: way },
    lackedSince: undefined,
    acknowledged: { ...about, published: undefined, set: setWith("good"), names: NameSet.empty },
    rejected: { ...rejected, before: undefined, after, carried: [] },
    inFlightCount: 1,
    inFlightSets: [way],
  };
  const subscriber = { targetChanged() {}, status: () => [status] };
  return { member: { node: testNode(), kind: "stream", client: subscriber, order: 1 }, held: [after, way].map(weak) };
}
const weak = (set: ResourceSet) => new WeakRef(set);

/**
 * Asserts that nothing holds these objects. V8 may find a stale pointer on the stack; an object that is really held
 * stays however often it looks.
 */
async function assertCollected(references: readonly WeakRef<object>[]): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const alive = () => references.filter((reference) => reference.deref() !== undefined).length;
  for (let attempt = 0; attempt < 20 && alive() > 0; attempt++) {
    await new Promise((resolve) => setTimeout(resolve));
    collect();
  }
  assert.equal(alive(), 0);
}

test("a stream that is gone holds only the set that it acknowledged", async () => {
  const lastAcknowledged = new LastAcknowledged();
  const held = (() => {
    const { member, held } = goneStream();
    lastAcknowledged.note(member);
    return held;
  })();
  await assertCollected(held);
  assert.ok(lastAcknowledged);
});

test("snapshots that are published during a quarantine without streams are not held", () =>
  withMemoryServer({ onReject: "lastGood" }, async ({ server, transport, address }) => {
    server.config.set([cluster("a", "good"), cluster("b")]);
    const judge = (held: ReadonlyMap<string, string>) => (held.get("a") === "bad" ? "reject" : "accept");
    const client = judgingClient(transport, address, { id: "n", judge });
    await waitFor("a client in sync", () => server.node("n")?.state === "synced");
    server.config.update({ upsert: [cluster("a", "bad")] });
    await waitFor("a quarantine", () => server.quarantines().length === 1);
    const later = judgingClient(transport, address, { id: "later" });
    await waitFor("what was acknowledged", () => later.current.get("a") === "good");
    for (const each of [client, later]) each.leave();
    await waitFor("nobody", () => server.nodes().length === 0);
    const between: WeakRef<object>[] = [];
    // The last hundred are kept for clients that come from other servers (`recent-snapshots.ts`).
    for (let round = 0; round < 120; round++) {
      server.config.update({ upsert: [cluster("b", `${round}`)] });
      const resource = server.snapshotOf("all")?.of(type).get("b");
      if (round < 18 && resource !== undefined) between.push(new WeakRef(resource));
    }
    assert.equal(between.length, 18);
    await assertCollected(between);
  }));
