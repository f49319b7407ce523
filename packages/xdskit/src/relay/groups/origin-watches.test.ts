import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { createClient } from "@xdskit/client";
import { createOriginWatches } from "./origin-watches.js";

const [clusterType, routeType] = [resourceTypes.find("cluster")!, resourceTypes.find("route")!];
const folder = "xdstp://a/envoy.config.cluster.v3.Cluster/d";

/** The watches of an origin that does not answer, and whether a name is wanted while a collection is watched. */
async function watching(...collections: readonly string[]) {
  const client = createClient({ servers: ["127.0.0.1:1"], node: { id: "relay" } });
  const watches = createOriginWatches(
    client,
    () => false,
    () => {},
  );
  const ends = collections.map((name) =>
    watches.collection(clusterType, name, { changed() {}, failed() {}, ended() {} }),
  );
  return {
    isWanted: (name: string, type = clusterType) => watches.isWanted(type, name),
    end(): void {
      for (const end of ends) end();
    },
    async [Symbol.asyncDispose]() {
      watches.close();
      await client.close();
    },
  };
}

describe("a name of an origin", () => {
  it("is wanted while a collection that it belongs to is watched, whatever the order of its parameters", async () => {
    await using watched = await watching(`${folder}/*?env=prod&zone=1`);
    assert.equal(watched.isWanted(`${folder}/one?env=prod&zone=1`), true);
    for (const other of [
      "one",
      "one?env=prod",
      "one?env=test&zone=1",
      "below/one?env=prod&zone=1",
      "*?env=prod&zone=1",
    ])
      assert.equal(watched.isWanted(`${folder}/${other}`), false, other);
    assert.equal(watched.isWanted(`${folder}/one?env=prod&zone=1`, routeType), false);
    await using turned = await watching(`${folder}/*?zone=1&env=prod`, `${folder}/*`);
    for (const name of ["one?env=prod&zone=1", "one"]) assert.equal(turned.isWanted(`${folder}/${name}`), true, name);
    turned.end();
    assert.equal(turned.isWanted(`${folder}/one`), false);
  });

  it("is wanted while all of its type are watched", async () => {
    await using watched = await watching("*");
    for (const name of ["one", `${folder}/one?env=prod`]) assert.equal(watched.isWanted(name), true, name);
    watched.end();
    assert.equal(watched.isWanted("one"), false);
  });
});
