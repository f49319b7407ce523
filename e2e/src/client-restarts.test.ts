import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClientEvent, createClient, type XdsClient } from "@xdskit/client";
import { createConfigFolder, type Files } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { serve, type XdskitServer } from "./harness/xdskit/xdskit.js";

const effort = Number(process.env.EFFORT ?? 1);
/** Each is under all four clients. */
const kills = 8 * effort;
const stops = 8 * effort;
const names = ["a", "b", "c", "d"];

/** All that is served at a moment: each name says which. */
const filesOf = (moment: string, served: readonly string[]): Files => ({
  "clusters.json": served.map((name) => ({
    "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
    name,
    alt_stat_name: moment,
  })),
  "endpoints.json": served.map((name) => ({
    "@type": typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
    cluster_name: name,
  })),
});

interface Follower {
  readonly how: string;
  readonly client: XdsClient;
  readonly events: readonly ClientEvent[];
  /** What its watchers have: of all clusters, and of each name. */
  now(): string;
}

/** A client of one variant, with a watcher of everything and one of each name. */
function follow(address: string, variant: "sotw" | "delta", aggregated: boolean): Follower {
  const how = `${variant} ${aggregated ? "ADS" : "per type"}`;
  const client = createClient({
    servers: [{ kind: "grpc", address, variant, aggregated }],
    node: { id: how },
    backoff: { firstMs: 20, maxMs: 200 },
  });
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  let all = "";
  const one = new Map<string, string>();
  const textOf = ({ name, message }: { readonly name: string; readonly message: object }) =>
    `${name}=${"altStatName" in message ? message.altStatName : ""}`;
  client.watch("cluster", "*", {
    onChanged({ resources }) {
      all = [...resources.values()].map(textOf).sort().join(" ");
    },
  });
  for (const name of names) {
    client.watch("cluster", name, {
      onChanged: (resource) => void one.set(name, textOf(resource)),
      onError: () => void one.delete(name),
    });
  }
  client.watch("endpoint", "a", { onChanged() {} });
  return { how, client, events, now: () => `${all} | ${names.flatMap((name) => one.get(name) ?? []).join(" ")}` };
}

/** Of one server that lives: each client has opened each of its streams, and none twice. */
async function streamsAreSingle({ admin }: XdskitServer): Promise<void> {
  // Two clients with one stream, two with a stream for each of two types. One may still wait for its turn to connect.
  await eventually("all streams", async () => (await metric(admin, "xdskit_streams_open")) === 6);
  assert.equal(await metric(admin, "xdskit_streams_total"), 6);
}

const variants = (["sotw", "delta"] as const).flatMap((variant) => [true, false].map((ads) => [variant, ads] as const));

test("clients of all four variants survive a server that is killed again and again while its resources change", {
  timeout: 300_000 * effort,
}, async (t) => {
  const scene = await createScene(t);
  let moment = 0;
  let served = names;
  const folder = await createConfigFolder(scene.directory, filesOf("0", served));
  const change = async () => {
    moment += 1;
    served = names.filter((_, index) => (moment * 7 + index * 3) % 5 !== 0);
    await folder.put(filesOf(`${moment}`, served));
  };
  let server = await serve(scene, folder.path);
  const followers = variants.map(([variant, aggregated]) => follow(server.grpc, variant, aggregated));
  t.after(() => Promise.all(followers.map(({ client }) => client.close())));
  const converged = () =>
    eventually(
      `moment ${moment} everywhere`,
      () => {
        const want = served.map((name) => `${name}=${moment}`).join(" ");
        for (const { how, now } of followers) assert.equal(now(), `${want} | ${want}`, how);
        return true;
      },
      { withinMs: 30_000 },
    );

  await scene.step("each client has all resources", async () => void (await converged()));
  await scene.step("a server is killed at any moment and started again with other resources", async () => {
    const started = performance.now();
    let count = 0;
    for (; count < kills; count++) {
      await change();
      // Sometimes in the middle of it, sometimes after it has come everywhere.
      if (count % 3 === 0) await converged();
      else await quiet((count * 13) % 90);
      if (count % 6 === 0) await streamsAreSingle(server);
      const { grpc, process } = server;
      await process.stop("SIGKILL");
      if (count % 2 === 0) await change();
      server = await serve(scene, folder.path, { grpc });
    }
    t.diagnostic(`killed ${count} times in ${Math.round(performance.now() - started)} ms`);
    await converged();
    await streamsAreSingle(server);
  });
  await scene.step("no watcher is lost: each hears of the next change", async () => {
    for (let count = 0; count < 2; count++) {
      await change();
      await converged();
    }
    for (const { how, events } of followers) {
      const open = new Map<string, number>();
      for (const event of events) {
        if (event.kind !== "connected" && event.kind !== "disconnected") continue;
        const key = event.type?.name ?? "all";
        open.set(key, (open.get(key) ?? 0) + (event.kind === "connected" ? 1 : -1));
        assert.ok([0, 1].includes(open.get(key) ?? 0), `${how}: ${key} is there ${open.get(key)} times`);
      }
      assert.deepEqual(
        events.filter(({ kind }) => kind === "rejected" || kind === "watcher-failed"),
        [],
      );
    }
  });
  await scene.step("a server is stopped and continued at any moment", async () => {
    for (let count = 0; count < stops; count++) {
      process.kill(server.process.pid, "SIGSTOP");
      try {
        await change();
        // What clients say meanwhile waits for the server.
        const [first] = followers;
        const passing = first?.client.watch("endpoint", `passing-${count}`, { onChanged() {} });
        await quiet((count * 11) % 50);
        if (count % 2 === 0) passing?.cancel();
      } finally {
        process.kill(server.process.pid, "SIGCONT");
      }
      await quiet((count * 17) % 70);
    }
    await converged();
    await streamsAreSingle(server);
  });
  await scene.step("all leave cleanly", async () => {
    await Promise.all(followers.map(({ client }) => client.close()));
    await eventually("no stream is left", async () => (await metric(server.admin, "xdskit_streams_open")) === 0);
  });
});
