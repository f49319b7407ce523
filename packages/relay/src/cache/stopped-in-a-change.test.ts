import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { becomes, cluster, endpoints, resourcesOf, route, seeRoutes, withStage } from "../testing/relayed.js";

const all = {
  name: "all",
  layer: "upstream",
  node: { id: "relay" },
  collections: [{ type: resourceTypes.find("cluster")!, name: "*" }],
};

const before = [cluster("old"), endpoints("old", 1), route("r", "old")];
const after = [cluster("new"), endpoints("new", 2), route("r", "new")];

/** What the origin has said when the relay stops, of a change that replaces `old` by `new`. */
const halves = {
  "the clusters": [cluster("new"), endpoints("new", 2), route("r", "old")],
  "the route": [cluster("old"), endpoints("old", 1), route("r", "new")],
};

describe("a relay that stops in the middle of a change", () => {
  for (const variant of ["delta", "sotw"] as const)
    for (const prefetch of [true, false])
      for (const [half, between] of Object.entries(halves))
        it(`serves what it served before: ${half} came, ${variant}, prefetch ${prefetch}`, () =>
          withStage(async ({ origin, relay, client, directory }) => {
            const first = await origin();
            first.server.config.set(resourcesOf(...before));
            const upstream = { kind: "grpc", address: first.address, variant, aggregated: true } as const;
            const options = { cache: join(directory, "cache"), groups: [{ ...all, prefetch }], holdMs: 60_000 };
            const stopping = await relay(upstream, options);
            const earlier = seeRoutes(client(stopping.address), ["r"]);
            await becomes(() => [earlier.clusters(), earlier.targets()], ["old", "old"]);
            const updates: string[] = [];
            stopping.relay.groups[0]?.client.on((event) => {
              if (event.kind === "updated") updates.push(event.update.type.name);
            });
            first.server.config.set(resourcesOf(...between));
            const changed = half === "the route" ? "route" : "cluster";
            await becomes(() => updates.includes(changed), true);
            await stopping.relay.close({ timeoutMs: 100 });
            await first.server.close({ timeoutMs: 100 });
            assert.deepEqual(earlier.broken, []);

            const again = await relay(upstream, options);
            const seen = seeRoutes(client(again.address), ["r"]);
            await becomes(() => [seen.clusters().includes("old"), seen.targets()], [true, "old"]);
            const back = await origin({}, first.address);
            back.server.config.set(resourcesOf(...after));
            await becomes(() => [seen.clusters(), seen.targets()], ["new", "new"]);
            assert.deepEqual(seen.broken, []);
          }));
});
