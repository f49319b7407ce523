import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { createServer, type ServerOptions, type XdsServer } from "@xdskit/server";
import { inProcess } from "../testing/in-process.js";

const cluster = (name: string, altStatName = "") => create(ClusterSchema, { name, altStatName });
const assignment = (clusterName: string) => create(ClusterLoadAssignmentSchema, { clusterName });

async function withServer(
  options: ServerOptions,
  run: (server: XdsServer, address: string) => Promise<void>,
): Promise<void> {
  const server = createServer(options);
  try {
    await run(server, (await server.listen({ grpc: "127.0.0.1:0" })).grpc);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
}

/** Watches with events as JSON lines. */
const watch = (...args: readonly string[]) => inProcess(["watch", "--output", "jsonl", ...args]);
const is = (event: string, name?: string) => (one: { readonly event: string; readonly name?: string }) =>
  one.event === event && one.name === name;

for (const variant of ["sotw", "delta"] as const) {
  for (const ads of [[], ["--ads"]]) {
    describe(`xdskit watch, ${variant} ${ads.length > 0 ? "ADS" : "per type"}`, () => {
      it("shows resources, changes and removals", () =>
        withServer({}, async (server, address) => {
          server.config.set([cluster("a"), cluster("b")]);
          await using watching = watch("--server", address, "--variant", variant, ...ads, "--type", "cds");
          const { version, resource, type } = await watching.seen(is("upsert", "a"));
          await watching.seen(is("upsert", "b"));
          assert.equal(type, "cluster");
          assert.deepEqual(resource, { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "a" });
          const [first] = watching.events();
          assert.deepEqual([first?.event, first?.server], ["connected", address]);
          const before = watching.events().length;
          server.config.update({ upsert: [cluster("a", "changed")], remove: [{ type: "cluster", name: "b" }] });
          const changed = await watching.seen(is("upsert", "a"), before);
          assert.notEqual(changed.version, version);
          assert.equal((changed.resource as { altStatName?: string }).altStatName, "changed");
          await watching.seen(is("delete", "b"), before);
          assert.equal(watching.events().length, before + 2);
          assert.equal(await watching.stop(), 0);
        }));

      it("reports that a name does not exist, and when it comes", () =>
        withServer({}, async (server, address) => {
          server.config.set([cluster("a")]);
          await using watching = watch("a", "--server", address, "b", "--variant", variant, ...ads, "--type=cluster");
          await watching.seen(is("upsert", "a"));
          await watching.seen(is("not_found", "b"));
          server.config.update({ upsert: [cluster("b"), cluster("c")] });
          await watching.seen(is("upsert", "b"));
          assert.ok(!watching.out().includes('"c"'), watching.out());
        }));
    });
  }

  it(`xdskit watch asks for more types on the aggregated stream, ${variant}`, () =>
    withServer({}, async (server, address) => {
      server.config.set([cluster("a"), assignment("a"), assignment("b"), assignment("c")]);
      const also = ["--also", "endpoint=a,b", "--also", "cluster"];
      await using watching = watch("--server", address, "--variant", variant, "--ads", "--type", "listener", ...also);
      await watching.seen(is("upsert", "b"));
      await watching.seen(({ type, name }) => type === "endpoint" && name === "a");
      await watching.seen(({ type, name }) => type === "cluster" && name === "a");
      assert.equal(watching.events().filter(({ event }) => event === "connected").length, 1);
      assert.ok(!watching.out().includes('"c"'), watching.out());
    }));
}

it("xdskit watch shows aliases and TTLs, and the end of a TTL", () =>
  withServer({}, async (server, address) => {
    server.config.set([createResource(cluster("a"), { ttl: 600_000 })]);
    await using watching = watch("--server", address, "--type", "cluster");
    const { ttl } = await watching.seen(is("upsert", "a"));
    assert.equal(ttl, "600s");
  }));

it("xdskit watch goes on for a time beyond the limit of Node's timers", () =>
  withServer({}, async (server, address) => {
    server.config.set([cluster("a")]);
    await using watching = watch("--server", address, "--type", "cds", "--timeout", "1000h");
    await watching.seen(is("upsert", "a"));
    server.config.update({ upsert: [cluster("b")] });
    await watching.seen(is("upsert", "b"));
    assert.equal(await watching.stop(), 0);
  }));
