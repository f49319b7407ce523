import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResource } from "@xdskit/api";
import { Cluster_DiscoveryType } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createServer, type XdsServer } from "@xdskit/server";
import type { XdsClient } from "../contract/xds-client.js";
import { createClient } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import {
  aggregateCluster,
  apiListener,
  assignment,
  edsCluster,
  endpointList,
  httpChain,
  inlineCluster,
  listAssignment,
  routes,
  socketListener,
} from "../testing/config-messages.js";
import { configText, messageOf, type Piece, randomPiece, resolveWorld, worldNames } from "../testing/config-world.js";
import { randomFrom } from "../testing/random.js";
import { waitFor } from "../testing/wait-for.js";

interface Tools {
  readonly server: XdsServer;
  readonly client: XdsClient;
  readonly events: readonly ClientEvent[];
  /** The reports to the watcher, as texts. */
  readonly told: string[];
}

for (const variant of ["sotw", "delta"] as const) {
  for (const aggregated of [true, false]) {
    for (const api of ["v3", "v2"] as const) {
      const served = async (test: (tools: Tools) => Promise<void>, absentAfterMs?: number) => {
        const server = createServer();
        const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
        const client = createClient({
          servers: [{ kind: "grpc", address: address ?? "", variant, aggregated, api }],
          node: { id: "me" },
          absentAfterMs,
        });
        const events: ClientEvent[] = [];
        client.on((event) => events.push(event));
        try {
          await test({ server, client, events, told: [] });
          assert.deepEqual(
            events.filter(({ kind }) => kind === "rejected" || kind === "watcher-failed"),
            [],
          );
        } finally {
          await client.close();
          await server.close({ timeoutMs: 500 });
        }
      };

      describe(`a configuration from a server, ${variant}, ${aggregated ? "ADS" : "per type"}, ${api}`, () => {
        it("a configuration is reported complete, changes, and asks for nothing that it does not need", () =>
          served(async ({ server, client, told }) => {
            server.config.set([
              apiListener("app", "r"),
              routes("r", "a"),
              edsCluster("a", "web"),
              assignment("web", 1),
              edsCluster("b"),
              assignment("b", 2),
              inlineCluster("c", Cluster_DiscoveryType.STATIC),
            ]);
            const watch = client.watchConfig("app", { onChanged: (config) => void told.push(configText(config)) });
            await waitFor(
              () => told.join("\n"),
              () => told.at(-1) === "; r all; a  1",
            );
            assert.equal(told.length, 1);
            server.config.update({ upsert: [routes("r", "agg"), aggregateCluster("agg", "b", "c")] });
            await waitFor(
              () => told.join("\n"),
              () => told.at(-1) === "; r all; agg  b c; b  2; c  inline",
            );
            assert.equal(told.length, 2);
            server.config.update({ upsert: [assignment("b", 3)] });
            await waitFor(
              () => told.join("\n"),
              () => told.at(-1) === "; r all; agg  b c; b  3; c  inline",
            );
            const names = () =>
              client
                .status()
                .flatMap(({ types }) => types)
                .flatMap(({ type, names }) => names.map((name) => `${type.name} ${name}`))
                .sort();
            assert.deepEqual(names(), [
              "cluster agg",
              "cluster b",
              "cluster c",
              "endpoint b",
              "listener app",
              "route r",
            ]);
            watch.cancel();
            assert.deepEqual(names(), []);
          }));

        if (aggregated && api === "v3")
          it("lists of endpoints arrive with the load assignment that names them", () =>
            served(async ({ server, client, told }) => {
              const listOf = (...ports: number[]) => createResource(endpointList(...ports), { name: "web/one" });
              server.config.set([apiListener("app", "r"), routes("r", "web"), edsCluster("web")]);
              server.config.update({ upsert: [listAssignment("web", "web/one"), listOf(1, 2)] });
              client.watchConfig("app", {
                onChanged: ({ clusters }) => {
                  const web = clusters.get("web");
                  assert.ok(web?.kind === "cluster" && web.endpoints.kind === "assignment");
                  told.push(
                    web.endpoints.lists
                      .map((one) => `${one.name}: ${one.kind === "list" && one.endpoints.length}`)
                      .join(),
                  );
                },
              });
              const becomes = (last: string) =>
                waitFor(
                  () => told.join("\n"),
                  () => told.at(-1) === last,
                );
              await becomes("web/one: 2");
              assert.equal(told.length, 1);
              server.config.update({ upsert: [listOf(3)] });
              await becomes("web/one: 1");
            }));

        it("a configuration reaches the server's state, however that changes", () =>
          served(async ({ server, client, told }) => {
            const random = randomFrom(variant.length * 100 + Number(aggregated) * 10 + api.length);
            const keys = Object.entries(worldNames).flatMap(([type, names]) => names.map((name) => `${type} ${name}`));
            const world = new Map<string, Piece>();
            for (const key of keys) world.set(key, randomPiece(key, 1, random));
            client.watchConfig("l", {
              onChanged: (config) => void told.push(configText(config)),
              onError: () => void told.push("error"),
            });
            for (let change = 2; change < 40; change += 1) {
              for (let more = random(4); more >= 0; more -= 1) {
                const key = keys[random(keys.length)] ?? "";
                // SotW does not report that routes or endpoints are gone (rule 74).
                const mayGo = variant === "delta" || key.startsWith("cluster") || key.startsWith("listener");
                if (mayGo && random(5) === 0 && change < 39) world.delete(key);
                else world.set(key, randomPiece(key, change, random));
              }
              if (change === 39) {
                world.set("listener l", { kind: "listener", tag: 39, routes: ["r0", "r1"], tcp: "c0" });
                world.set("route r0", randomPiece("route r0", 39, random));
              }
              server.config.set([...world].map(([key, piece]) => messageOf(key, piece)));
              await new Promise((resolve) => setTimeout(resolve, random(20)));
            }
            const all = [...worldNames.cluster, "c20"].flatMap((name) => [`cluster ${name}`, `endpoint ${name}`]);
            const known = new Map([...keys, ...all].map((key) => [key, world.get(key) ?? ("absent" as const)]));
            const { text } = resolveWorld(known, [], undefined);
            assert.ok(text !== undefined && text !== "error");
            await waitFor(
              () => `${text}\n${told.at(-1)}`,
              () => told.at(-1) === text,
            );
          }, 500));
      });
    }
  }
}

describe("a configuration from a server", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`a configuration stays while the server is away, says so, and follows when it is back, ${variant}`, {
      timeout: 60_000,
    }, async () => {
      const resources = [
        socketListener("in", httpChain("web", "r")),
        routes("r", "a"),
        edsCluster("a"),
        assignment("a", 1),
      ];
      let server = createServer();
      server.config.set(resources);
      const { grpc: address = "" } = await server.listen({ grpc: "127.0.0.1:0" });
      const backoff = { firstMs: 20, maxMs: 50 };
      const client = createClient({ servers: [{ kind: "grpc", address, variant }], node: { id: "me" }, backoff });
      const told: string[] = [];
      try {
        client.watchConfig("in", {
          onChanged: (config) => void told.push(configText(config)),
          onError: ({ message }) => void told.push(message),
          onAmbient: (problems) => void told.push(`ambient ${problems.map(({ type }) => type).sort()}`),
        });
        await waitFor(
          () => told.join("\n"),
          () => told.at(-1) === "; r all; a  1",
        );
        await server.close({ timeoutMs: 0 });
        await waitFor(
          () => told.join("\n"),
          () => told.at(-1) === "ambient cluster,endpoint,listener,route",
        );
        server = createServer();
        server.config.set([...resources.slice(0, 3), assignment("a", 2)]);
        await server.listen({ grpc: address });
        await waitFor(
          () => told.join("\n"),
          () => told.includes("; r all; a  2"),
        );
        await waitFor(
          () => told.join("\n"),
          () => told.includes("ambient "),
        );
        assert.deepEqual(
          told.filter((text) => text.startsWith(";")),
          ["; r all; a  1", "; r all; a  2"],
        );
      } finally {
        await client.close();
        await server.close({ timeoutMs: 500 });
      }
    });
  }

  it("a configuration ends with the client, as an iterator too", async () => {
    const server = createServer();
    server.config.set([apiListener("app", routes("r"))]);
    const { grpc: address = "" } = await server.listen({ grpc: "127.0.0.1:0" });
    const client = createClient({ servers: [address], node: { id: "me" } });
    const seen: string[] = [];
    for await (const item of client.watchConfig("app")) {
      seen.push(item.kind === "changed" ? configText(item.value) : item.error.message);
      void client.close();
    }
    assert.deepEqual(seen, ["; r all"]);
    await client.close();
    await server.close({ timeoutMs: 500 });
    assert.throws(() => client.watchConfig("app"), /XDSKIT_CLIENT_CLOSED/);
  });
});
