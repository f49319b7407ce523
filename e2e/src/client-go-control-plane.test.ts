import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createClient, type XdsClient } from "@xdskit/client";
import type { ReceivedResource } from "@xdskit/protocol";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { typeUrl } from "./harness/basics/resources.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { type GoControlPlane, startGoControlPlane } from "./harness/peers/go-control-plane.js";

const urls = {
  cluster: typeUrl("envoy.config.cluster.v3.Cluster"),
  endpoint: typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
  route: typeUrl("envoy.config.route.v3.RouteConfiguration"),
};

const cluster = (name: string, content: string, more: Record<string, unknown> = {}): ResourceText => ({
  "@type": urls.cluster,
  name,
  alt_stat_name: content,
  ...more,
});
const assignment = (name: string, weight: number): ResourceText => ({
  "@type": urls.endpoint,
  cluster_name: name,
  policy: { overprovisioning_factor: weight },
});
const route = (name: string, host: string): ResourceText => ({
  "@type": urls.route,
  name,
  virtual_hosts: [{ name: host, domains: ["*"] }],
});

/** The contents that watchers have now, and all errors that they were told. */
interface Seen {
  readonly clusters: () => string;
  readonly named: ReadonlyMap<string, string>;
  readonly errors: string[];
}

function watchAll(client: XdsClient, names: readonly (readonly [type: string, name: string])[]): Seen {
  let clusters = "none yet";
  const named = new Map<string, string>();
  const errors: string[] = [];
  const text = ({ message }: ReceivedResource): string => {
    if ("altStatName" in message) return String(message.altStatName);
    if ("policy" in message)
      return String((message.policy as { overprovisioningFactor: unknown }).overprovisioningFactor);
    return "virtualHosts" in message ? (message.virtualHosts as { name: string }[]).map(({ name }) => name).join() : "";
  };
  client.watch("cluster", "*", {
    onChanged({ resources }) {
      clusters = [...resources.values()]
        .map((one) => `${one.name}=${text(one)}`)
        .sort()
        .join(" ");
    },
    onError: ({ code }) => void errors.push(`* ${code}`),
    onAmbient: ({ code }) => void errors.push(`beside * ${code}`),
  });
  for (const [type, name] of names) {
    client.watch(type, name, {
      onChanged: (resource) => void named.set(`${type} ${name}`, text(resource)),
      onError({ code }) {
        named.delete(`${type} ${name}`);
        errors.push(`${type} ${name} ${code}`);
      },
      onAmbient: ({ code }) => void errors.push(`beside ${type} ${name} ${code}`),
    });
  }
  return { clusters: () => clusters, named, errors };
}

const openStreams = (server: GoControlPlane): number =>
  server.events().reduce((sum, { event }) => sum + (event === "opened" ? 1 : event === "closed" ? -1 : 0), 0);

async function lives(
  t: TestContext,
  scene: Scene,
  command: string,
  how: { readonly cache: "snapshot" | "linear"; readonly variant: "sotw" | "delta"; readonly aggregated: boolean },
): Promise<void> {
  const { cache, variant, aggregated } = how;
  const ads = cache === "snapshot" && aggregated;
  const streams = aggregated ? 1 : 3;
  // Its SnapshotCache takes `*` for a name where other names stand beside it in SotW.
  const watchesOne = cache === "linear" || variant === "delta";
  let server = await startGoControlPlane(scene, command, { cache, ads });
  const others = [assignment("a", 140), assignment("b", 140), route("r", "one")];
  await server.set("1", [cluster("a", "1"), cluster("b", "1"), ...others]);
  const client = createClient({
    servers: [{ kind: "grpc", address: server.address, variant, aggregated }],
    node: { id: "go" },
    backoff: { firstMs: 50, maxMs: 500 },
  });
  t.after(() => client.close());
  const seen = watchAll(client, [
    ...(watchesOne ? ([["cluster", "a"]] as const) : []),
    ["endpoint", "a"],
    ["endpoint", "b"],
    ["route", "r"],
  ]);
  const has = (clusters: string, ...named: readonly string[]) =>
    eventually(`${clusters} and ${named}; is ${seen.clusters()}`, () => {
      const now = [...seen.named].map((entry) => entry.join("=")).sort();
      assert.deepEqual(
        [seen.clusters(), ...now],
        [clusters, ...named.filter((one) => watchesOne || !one.startsWith("cluster"))],
      );
      return true;
    });

  if (
    !(await scene.step("gets the existing resources", async () => {
      await has("a=1 b=1", "cluster a=1", "endpoint a=140", "endpoint b=140", "route r=one");
      assert.equal(openStreams(server), streams);
      assert.deepEqual(seen.errors, []);
      assert.deepEqual(new Set(server.events().flatMap(({ node }) => node ?? [])), new Set(["go"]));
    }))
  )
    return;

  if (
    !(await scene.step("follows changes", async () => {
      const changed = [assignment("a", 150), assignment("b", 140), route("r", "two")];
      await server.set("2", [cluster("a", "2"), cluster("b", "1"), cluster("c", "1"), ...changed]);
      await has("a=2 b=1 c=1", "cluster a=2", "endpoint a=150", "endpoint b=140", "route r=two");
      assert.deepEqual(seen.errors, []);
    }))
  )
    return;

  if (
    !(await scene.step("follows a removal, and a resource that comes back", async () => {
      await server.set("3", [cluster("b", "1"), cluster("c", "1"), ...others]);
      await has("b=1 c=1", "endpoint a=140", "endpoint b=140", "route r=one");
      assert.deepEqual(seen.errors.splice(0), watchesOne ? ["cluster a XDSKIT_RESOURCE_ABSENT"] : []);
      await server.set("4", [cluster("a", "4"), cluster("b", "1"), cluster("c", "1"), ...others]);
      await has("a=4 b=1 c=1", "cluster a=4", "endpoint a=140", "endpoint b=140", "route r=one");
    }))
  )
    return;

  if (
    !(await scene.step("rejects a bad resource, which the server sees, and keeps the old one", async () => {
      const bad = cluster("a", "5", { connect_timeout: "-1s" });
      await server.set("5", [bad, cluster("b", "5"), cluster("c", "1"), ...others]);
      const nack = await eventually("the rejection", () => server.events().find(({ error = "" }) => error !== ""));
      assert.match(nack.error ?? "", /\ba\b.*connect_timeout/);
      assert.equal(nack.type, urls.cluster);
      await has("a=4 b=5 c=1", "cluster a=4", "endpoint a=140", "endpoint b=140", "route r=one");
      await eventually("watchers are told", () => seen.errors.length >= (watchesOne ? 2 : 1));
      assert.ok(seen.errors.splice(0).every((line) => /^beside (\*|cluster a) XDSKIT_UPDATE_REJECTED$/.test(line)));
      await server.set("6", [cluster("a", "6"), cluster("b", "6"), cluster("c", "1"), ...others]);
      await has("a=6 b=6 c=1", "cluster a=6", "endpoint a=140", "endpoint b=140", "route r=one");
    }))
  )
    return;

  if (
    !(await scene.step("reconnects to a server that was killed and started again with other contents", async () => {
      await server.process.stop("SIGKILL");
      await eventually("the server is missed", () => seen.errors.some((line) => line.includes("UPSTREAM_AWAY")));
      assert.ok(
        seen.errors.splice(0).every((line) => line.startsWith("beside")),
        "what was there stays",
      );
      server = await startGoControlPlane(scene, command, { cache, ads, address: server.address });
      await server.set("7", [cluster("a", "7"), cluster("c", "1"), ...others.slice(0, 2), route("r", "seven")]);
      await has("a=7 c=1", "cluster a=7", "endpoint a=140", "endpoint b=140", "route r=seven");
      await eventually("one stream each", () => openStreams(server) === streams);
      assert.equal(server.events().filter(({ event }) => event === "opened").length, streams);
      assert.deepEqual(
        server.events().filter(({ error = "" }) => error !== ""),
        [],
      );
    }))
  )
    return;

  if (
    !(await scene.step("leaves cleanly, and asked only as often as needed", async () => {
      await client.close();
      await eventually("no stream is left", () => openStreams(server) === 0);
      const count = (kind: string) => server.events().filter(({ event }) => event === kind).length;
      // An answer to each response, and a request or two for each of what is asked for.
      assert.ok(
        count("request") <= count("response") + 8,
        `${count("request")} requests, ${count("response")} responses`,
      );
    }))
  )
    return;
}

for (const cache of ["snapshot", "linear"] as const) {
  for (const variant of ["sotw", "delta"] as const) {
    for (const aggregated of [true, false]) {
      const name = `the client and go-control-plane's ${cache} cache, ${variant}, ${aggregated ? "ADS" : "per type"}`;
      test(name, { timeout: 180_000 }, async (t) => {
        const command = peer("go-control-plane-server", t);
        if (command === undefined) return;
        await lives(t, await createScene(t), command, { cache, variant, aggregated });
      });
    }
  }
}
