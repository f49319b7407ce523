import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { type ReceivedResource, receivedResource } from "@xdskit/protocol";
import { withOneServer } from "../testing/one-server-client.js";
import { settle } from "../testing/settle.js";
import { type Told, watchCluster, watchClusters } from "../testing/told.js";

const cluster = resourceTypes.find("cluster")!;

function aliased(name: string, content: string, ...aliases: readonly string[]): ReceivedResource {
  return receivedResource(createResource(create(ClusterSchema, { name, altStatName: content }), { aliases }), content);
}

const linesOf = ({ lines }: Told) => [...lines];

describe("a watcher by an alias", () => {
  it("a watcher by an alias gets a resource that came for others before", () =>
    withOneServer(async (client, one) => {
      watchClusters(client);
      one.answer(cluster, { upserted: [aliased("a", "1", "www")] });
      const late = watchCluster(client, "www");
      await settle();
      assert.deepEqual(linesOf(late), ["changed a=1"]);
      assert.equal((await client.get("cluster", "www")).name, "a");
      one.answer(cluster, { upserted: [aliased("a", "2", "www")] });
      assert.equal(late.now, "a=2");
      one.answer(cluster, { removed: ["a"] });
      assert.equal(late.now, "");
      const later = watchCluster(client, "www");
      await settle();
      assert.equal(later.now, "");
    }));

  it("a watcher by an alias sees no gap when another resource takes the alias over", () =>
    withOneServer(async (client, one) => {
      const www = watchCluster(client, "www");
      one.answer(cluster, { upserted: [aliased("a", "1", "www")] });
      one.answer(cluster, { upserted: [aliased("b", "1", "www")], removed: ["a"] });
      await settle();
      assert.deepEqual([www.now, linesOf(www).filter((line) => line.startsWith("error"))], ["b=1", []]);
      one.answer(cluster, { removed: ["b"] });
      assert.equal(www.now, "");
    }));

  it("a resource whose own name was also an alias stays when the resource with the alias goes", () =>
    withOneServer(async (client, one) => {
      const [a, b, all] = [watchCluster(client, "a"), watchCluster(client, "b"), watchClusters(client)];
      one.answer(cluster, { upserted: [aliased("b", "1"), aliased("a", "1", "b")] });
      one.answer(cluster, { removed: ["a"] });
      await settle();
      assert.deepEqual([a.now, b.now, all.now], ["", "b=1", "b=1"]);
    }));
});
