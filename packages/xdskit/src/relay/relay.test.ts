import assert from "node:assert/strict";
import { test } from "node:test";
import type { GrpcServerSettings } from "@xdskit/client";
import { becomes, cluster, endpoints, resourcesOf, see, seeOne, withStage } from "../testing/relayed.js";

const port = ({ endpoints }: { endpoints: { lbEndpoints: { hostIdentifier: { value: never } }[] }[] }) => {
  const [first] = endpoints.flatMap(({ lbEndpoints }) => lbEndpoints);
  const endpoint = first?.hostIdentifier.value as
    | { address: { address: { value: { portSpecifier: { value: number } } } } }
    | undefined;
  return endpoint?.address.address.value.portSpecifier.value;
};
const assignment = (...[client, name]: [Parameters<typeof seeOne>[0], string]) =>
  seeOne(client, "endpoint", name, port);

const upstreams: readonly Omit<GrpcServerSettings, "address">[] = (["sotw", "delta"] as const).flatMap((variant) =>
  [true, false].flatMap((aggregated) => [{ kind: "grpc" as const, variant, aggregated }]),
);

for (const upstream of [...upstreams, { kind: "grpc" as const, variant: "sotw" as const, api: "v2" as const }]) {
  const { variant, aggregated = true, api = "v3" } = upstream;
  test(`what an origin has, changes and removes reaches clients: ${variant}, ${aggregated ? "ADS" : "per type"}, ${api}`, () =>
    withStage(async ({ origin, relay, client }) => {
      const { server, address } = await origin();
      server.config.set(resourcesOf(cluster("a"), cluster("b"), endpoints("a", 1)));
      const relayed = await relay({ ...upstream, address });
      const edge = client(relayed.address);
      const clusters = see(edge, "cluster");
      const ofA = assignment(edge, "a");
      const ofC = assignment(edge, "c");
      await becomes(clusters.names, "a,b");
      await becomes(ofA, 1);
      // Content decides versions: clients cannot tell.
      const direct = see(client(address), "cluster");
      await becomes(direct.names, "a,b");
      assert.deepEqual(clusters.versions(), direct.versions());
      server.config.set(resourcesOf(cluster("a"), cluster("c"), endpoints("a", 2), endpoints("c", 3)));
      await becomes(clusters.names, "a,c");
      await becomes(ofA, 2);
      await becomes(ofC, 3);
    }));
}
