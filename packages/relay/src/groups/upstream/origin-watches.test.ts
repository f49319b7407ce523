import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { createClient } from "@xdskit/client";
import { receivedResource } from "@xdskit/protocol";
import { cluster, resourcesOf } from "../../testing/relayed.js";
import { NameWatch, OriginWatches } from "./origin-watches.js";

const [clusterType, routeType] = [resourceTypes.find("cluster")!, resourceTypes.find("route")!];
const folder = "xdstp://a/envoy.config.cluster.v3.Cluster/d";

/** The watches of an origin that does not answer, and whether a name is wanted while a collection is watched. */
async function watching(...collections: readonly string[]) {
  const client = createClient({ servers: ["127.0.0.1:1"], node: { id: "relay" } });
  const watches = new OriginWatches(
    client,
    () => false,
    () => {},
  );
  const ends = collections.map((name) =>
    watches.collection(clusterType, name, { collectionChanged() {}, failed() {}, ended() {} }),
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

/** A client's question for a name. */
class Asked extends NameWatch {
  protected found(): void {}
  protected absent(): void {}
}

describe("a name that clients ask for and leave while the origin is away", () => {
  /** The questions for a name that came to an end, and the names that the origin is asked for. */
  async function asking(name: string, times: number) {
    const [kept] = resourcesOf(cluster("kept"));
    assert.ok(kept !== undefined);
    const held = [{ type: clusterType, resources: [receivedResource(kept, "")], version: "" }];
    const client = createClient({ servers: ["127.0.0.1:1"], node: { id: "relay" }, retained: held });
    let ended = 0;
    const watches = new OriginWatches(
      client,
      () => false,
      () => {
        ended += 1;
      },
    );
    for (let time = 0; time < times; time++) {
      const asked = new Asked(clusterType, name);
      watches.name(asked);
      await new Promise(setImmediate);
      asked.cancel();
    }
    const endedWhileAway = ended;
    const wanted = watches.isWanted(clusterType, name);
    watches.connected(routeType);
    const wantedBefore = watches.isWanted(clusterType, name);
    watches.connected(clusterType);
    const left = watches.isWanted(clusterType, name);
    watches.close();
    await client.close();
    return { endedWhileAway, wanted: [wanted, wantedBefore], ended, left };
  }

  it("keeps its resource by one watch, however often they ask, until the origin is back", async () => {
    assert.deepEqual(await asking("kept", 1_000), {
      endedWhileAway: 999,
      wanted: [true, true],
      ended: 1_000,
      left: false,
    });
  });

  it("is forgotten at once if it has no resource", async () => {
    assert.deepEqual(await asking("other", 1_000), {
      endedWhileAway: 1_000,
      wanted: [false, false],
      ended: 1_000,
      left: false,
    });
  });
});
