import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { Method } from "../contracts/transport.js";
import { createNodeOrders } from "./node-orders.js";

const node = { id: "same", cluster: "", clientFeatures: [] } as unknown as Node;
const ofType = (name: string): Method => ({
  variant: "sotw",
  api: "v3",
  only: resourceTypes.find(name)!,
  unary: false,
});

test("a caller that claims another's id does not share its order, nor what it is known for", () => {
  const orders = createNodeOrders(undefined);
  const join = (owner: string, type: string) => {
    const member = { caller: { owner }, node, group: "all" };
    const past = () => assert.fail("nobody comes back");
    return orders.join(ofType(type), member, past) ?? assert.fail("no order");
  };
  const [clusters, routes] = [join("a", "cluster"), join("a", "route")];
  assert.equal(clusters.ordering, routes.ordering);
  const foreign = join("b", "endpoint");
  assert.notEqual(foreign.ordering, clusters.ordering);
  // It went without ever having asked for clusters.
  foreign.leave(false);
  assert.equal(join("b", "endpoint").mayAskForClusters, false);
  for (const own of [clusters, routes]) own.leave(false);
  assert.equal(join("a", "endpoint").mayAskForClusters, true);
});
