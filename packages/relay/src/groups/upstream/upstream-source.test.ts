import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Finding, resourceTypes } from "@xdskit/api";
import { createServer, type Source } from "@xdskit/server";
import { cluster, resourcesOf } from "../../testing/relayed.js";
import { UpstreamSource } from "./upstream-source.js";

const foreign = "xdstp://other/envoy.config.cluster.v3.Cluster/x";

/** A source of the server whose first content `begin` brings. */
const begins = (source: UpstreamSource, begin: () => Promise<void>): Source => ({
  name: "upstream of all",
  start: (sink) => source.start(sink, begin, Promise.resolve()),
  close: async () => source.close(),
});

/** A source in a server of one authority, whose first answer are clusters of these names. */
async function begun(...names: readonly string[]) {
  const server = createServer({ authorities: ["here"] });
  const findings: Finding[] = [];
  const source = new UpstreamSource({ layer: "upstream", report: (found) => findings.push(...found) });
  await server.addSource(begins(source, async () => void source.update({ upsert: clustersOf(...names) })));
  return {
    source,
    served: () => Array.from(server.snapshotOf("all")?.of(resourceTypes.find("cluster")!) ?? [], ({ name }) => name),
    refused: () => findings.map(({ code, resource }) => [code, resource]),
    [Symbol.asyncDispose]: () => server.close({ timeoutMs: 0 }),
  };
}

const clustersOf = (...names: readonly string[]) => resourcesOf(...names.map((name) => cluster(name)));

describe("a resource of an origin that the server refuses", () => {
  it("does not cost the others of the first answers", async () => {
    await using relayed = await begun("a", foreign, "b");
    assert.deepEqual(relayed.served(), ["a", "b"]);
    assert.deepEqual(relayed.refused(), [["XDSKIT_AUTHORITY", foreign]]);
  });

  it("does not cost the others of its response, nor the removals in it", async () => {
    await using relayed = await begun("a");
    const remove = clustersOf("a").map(({ type, name }) => ({ type, name }));
    const applied = relayed.source.update({ upsert: clustersOf("b", foreign, "c"), remove });
    assert.deepEqual(relayed.served(), ["b", "c"]);
    assert.deepEqual(
      applied?.upsert.map(({ name }) => name),
      ["b", "c"],
    );
    assert.deepEqual(relayed.refused(), [["XDSKIT_AUTHORITY", foreign]]);
  });
});

describe("an origin that changes something while a relay starts from its cache", () => {
  it("changes what the cache has, which is applied before", async () => {
    const server = createServer();
    const applied: string[] = [];
    const source = new UpstreamSource({ layer: "upstream", report: () => {} });
    const begin = async () => {
      source.beginWith(clustersOf("a", "b"));
      applied.push(served());
      // The start brings the cache once more.
      source.update({ upsert: clustersOf("a") });
      source.update({ upsert: clustersOf("c"), remove: clustersOf("a").map(({ type, name }) => ({ type, name })) });
      applied.push(served());
      source.update({ upsert: clustersOf("a") });
      applied.push(served());
    };
    const served = () => {
      const clusters = server.layerSnapshot("upstream")?.of(resourceTypes.find("cluster")!) ?? [];
      return Array.from(clusters, ({ name }) => name)
        .sort()
        .join();
    };
    await server.addSource(begins(source, begin));
    assert.deepEqual(applied, ["a,b", "b,c", "a,b,c"]);
    await server.close({ timeoutMs: 0 });
  });
});
