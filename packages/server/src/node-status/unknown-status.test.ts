import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceTypes, systemClock } from "@xdskit/api";
import type { Node, TypeStatus } from "@xdskit/protocol";
import { Arrivals } from "../arrivals/arrivals.js";
import { createLayers } from "../configuration/layers.js";
import { createEvents } from "../contracts/events.js";
import { ads } from "../testing/running-server.js";
import { clusterResource } from "../testing/test-resources.js";
import { createLedger } from "./ledger.js";
import { type OpenStream, unknownStatus } from "./ledger-stream.js";

const node: Node = {
  id: "node",
  cluster: "",
  userAgentName: "",
  userAgentVersion: "",
  metadata: {},
  clientFeatures: [],
  locality: { region: "", zone: "", subZone: "" },
};

/** A stream that is only known to be open. */
function busyStream(): OpenStream & { known: readonly TypeStatus[] } {
  const stream = {
    opened: { id: 1, method: ads("delta"), peer: "", node, group: "all" },
    openedAt: 0,
    layers: undefined,
    snapshot: undefined,
    newest: undefined,
    isSettled: false,
    unsettledSince: 0,
    heldUntil: 0,
    known: unknownStatus,
    status: () => stream.known,
  };
  return stream;
}

test("a node whose state is not known now is pending, not synced", () => {
  const ledger = createLedger([busyStream()], systemClock, resourceTypes);
  assert.deepEqual(ledger.nodeStates(), { synced: 0, pending: 1, rejected: 0, stale: 0 });
  assert.equal(ledger.node("node")?.state, "pending");
  assert.equal(ledger.nodes()[0]?.state, "pending");
});

test("a change is not done before every stream that it may concern can be asked", async () => {
  const stream = busyStream();
  const arrivals = new Arrivals([stream], systemClock, createEvents());
  const [change] = createLayers().apply([{ kind: "patch", layer: "a", upsert: [clusterResource("a")] }]);
  assert.ok(change);
  const arrival = arrivals.of(arrivals.begin([change]), change);
  assert.equal(arrival.status().pending, 1);
  let isDone = false;
  const done = arrival.done().then((outcome) => {
    isDone = true;
    return outcome;
  });
  await new Promise((turn) => setImmediate(turn));
  assert.ok(!isDone);
  stream.known = [];
  arrivals.progressed(stream);
  assert.equal((await done).result, "complete");
});
