import assert from "node:assert/strict";
import { it } from "node:test";
import type { NodeStatus } from "@xdskit/server";
import { rowOf } from "./row.js";

/** A node with a stream for each of these certificates. */
function status(...identities: readonly NodeStatus["streams"][number]["identity"][]): NodeStatus {
  const node = { id: "n", cluster: "edge", locality: { region: "", zone: "", subZone: "" } };
  const streams = identities.map((identity) => ({ stream: { node }, openedAt: new Date(0), identity, types: [] }));
  return { id: "n", node, group: "edge", state: "synced", streams } as unknown as NodeStatus;
}

it("a row has the certificate of the newest stream that showed one", () => {
  const old = { subject: "CN=old", names: [], validTo: 0 };
  const renewed = { subject: "CN=new", names: ["URI:spiffe://shop/edge"], validTo: 86_400_000 };
  assert.deepEqual(rowOf(status(old, renewed, undefined), "here", 0).certificate, {
    subject: "CN=new",
    names: ["URI:spiffe://shop/edge"],
    validTo: "1970-01-02T00:00:00.000Z",
  });
  assert.equal(rowOf(status(undefined), "here", 0).certificate, undefined);
  assert.equal(rowOf(status({ ...old, validTo: Number.NaN }), "here", 0).certificate?.validTo, null);
});
