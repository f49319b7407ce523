import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { type ReceivedResource, receivedResource } from "./contract/received.js";
import { FileSubscription } from "./file-subscription.js";

const glob = "xdstp://x/envoy.config.cluster.v3.Cluster/c/*";

function cluster(name: string, ...aliases: readonly string[]): ReceivedResource {
  return receivedResource(createResource(create(ClusterSchema, { name }), { aliases }), "1");
}

function having(...resources: readonly ReceivedResource[]) {
  const type = resourceTypes.find("cluster");
  assert.ok(type);
  const subscription = new FileSubscription(type);
  const held = () => [...subscription.status().resources.keys()];
  const content = new Map(resources.map((resource) => [resource.name, resource]));
  const subscribe = (...names: readonly string[]) => {
    subscription.subscribe(names);
    subscription.take({ version: "1", resources: content }, 0);
    return held();
  };
  const unsubscribe = (...names: readonly string[]) => {
    subscription.unsubscribe(names);
    return held();
  };
  return { subscribe, unsubscribe };
}

describe("the subscription to a file", () => {
  it("a resource of a file is held as long as any of its names is asked for", () => {
    const member = glob.replace("*", "m");
    const { subscribe, unsubscribe } = having(cluster("a", "www"), cluster("b"), cluster(member));
    assert.deepEqual(subscribe("a", "www", "b", glob), ["a", "b", member]);
    assert.deepEqual(unsubscribe("a"), ["a", "b", member]);
    assert.deepEqual(unsubscribe("www"), ["b", member]);
    assert.deepEqual(subscribe(member, "www"), ["b", member, "a"]);
    assert.deepEqual(unsubscribe("www", glob), ["b", member]);
    assert.deepEqual(subscribe("*"), ["b", member, "a"]);
    assert.deepEqual(unsubscribe("*", "b"), [member]);
    assert.deepEqual(unsubscribe(member), []);
  });

  it("an unsubscription costs the number of its names, and not of the current resources", () => {
    let looks = 0;
    const counted = (name: string) =>
      Object.defineProperty({ ...cluster(name) }, "aliases", {
        get() {
          looks += 1;
          return [];
        },
      });
    const names = Array.from({ length: 1_000 }, (_, index) => `c${index}`);
    const { subscribe, unsubscribe } = having(...names.map(counted));
    subscribe(...names);
    looks = 0;
    for (const name of names.slice(0, 20)) unsubscribe(name);
    assert.ok(looks < 200, `${looks} looks`);
  });
});
