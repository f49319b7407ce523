import assert from "node:assert/strict";
import { it } from "node:test";
import { createResource } from "@xdskit/api";
import { emptyResourceSet, type Rejection } from "@xdskit/protocol";
import { fullSettings } from "../../settings/rollout-settings.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { testNode } from "../../testing/test-node.js";
import { cluster } from "../../testing/test-resources.js";
import type { Member } from "./members/member.js";
import { RolloutMachine } from "./steps/rollout.js";

it("remembers little of each rejection of a large change", () => {
  const subscriber = { targetChanged() {}, standing: () => "pending" as const };
  const members = Array.from({ length: 3 }, (_, order): Member => {
    return { node: testNode({ id: `n${order}` }), kind: "stream", client: subscriber, order };
  });
  const context = { id: 1, group: "all", clock: manualClock(), isKeptFrom: () => false, spread() {}, report() {} };
  const rollout = new RolloutMachine({ ...context, members });
  const resources = Array.from({ length: 1_000 }, (_, index) => createResource(cluster(`c${index}`)));
  const changes = resources.map((after) => ({ type: after.type, key: after.key, before: undefined, after }));
  rollout.change(changes, fullSettings({ steps: [{ percent: 100 }] }));

  let looked = 0;
  const carried = new Proxy(resources, {
    get(target, key) {
      if (/^\d+$/.test(String(key))) looked += 1;
      return Reflect.get(target, key);
    },
  });
  const [{ type }] = resources as [(typeof resources)[number]];
  const rejection: Rejection = {
    version: "v",
    nonce: "1",
    code: 3,
    message: "no",
    at: 0,
    blamed: undefined,
    usesRest: false,
    carried,
    before: undefined,
    after: emptyResourceSet(type),
  };
  for (const member of members) rollout.rejected(member, type, rejection);
  assert.equal(rollout.status().nodes.rejected, 3);
  assert.ok(looked <= 3 * 101, `${looked}`);
});
