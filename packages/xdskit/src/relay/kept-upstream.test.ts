import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { LayerJson, RevisionJson } from "../api-client/api-types.js";
import { eventually } from "../testing/command.js";
import { clusterYaml, type TestFolder, testFolder } from "../testing/folder.js";
import { inProcessEnds, type RunningServer, servesHere } from "../testing/in-process.js";

const ports = ["--rest", "off", "--admin", "127.0.0.1:0"];

interface Relayed extends AsyncDisposable {
  readonly running: RunningServer;
  /** The URL of its admin listener. */
  readonly admin: string;
  run(command: string, ...args: readonly string[]): ReturnType<typeof inProcessEnds>;
  /** The names of the clusters that a client gets, with their timeouts, sorted. */
  clusters(...options: readonly string[]): Promise<string>;
  revisions(layer?: string): Promise<readonly RevisionJson[]>;
  stop(): Promise<void>;
}

const seen = async (running: RunningServer, name: string) =>
  (await running.seen(new RegExp(`^${name} listening on (\\S+)$`, "m")))[1] ?? "";

async function serving(folder: TestFolder, grpc = "127.0.0.1:0"): Promise<{ running: RunningServer; grpc: string }> {
  const config = join(folder.path, "config");
  const running = servesHere("serve", config, "--state", "off", "--settle", "20ms", "--grpc", grpc, ...ports);
  await running.seen(/^ready$/m);
  return { running, grpc: await seen(running, "grpc") };
}

async function relaying(folder: TestFolder, ...args: readonly string[]): Promise<Relayed> {
  const state = join(folder.path, "state");
  const running = servesHere("relay", "--state", state, "--grpc", "127.0.0.1:0", ...ports, ...args);
  await running.seen(/^ready$/m);
  const [grpc, admin] = [await seen(running, "grpc"), `http://${await seen(running, "admin")}`];
  const run: Relayed["run"] = (command, ...more) => inProcessEnds(command, ...more, "--server", admin);
  return {
    running,
    admin,
    run,
    async clusters(...options) {
      const { out } = await inProcessEnds("get", "cluster", "--server", grpc, "--output", "jsonl", ...options);
      const lines = out.split("\n").filter((line) => line !== "");
      const upserts = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "upsert");
      return upserts
        .map(({ name, resource }) => `${name}=${resource.connectTimeout}`)
        .sort()
        .join(" ");
    },
    async revisions(layer = "upstream") {
      const answer = await fetch(`${admin}/api/v1/revisions?layer=${layer}`);
      return ((await answer.json()) as { readonly revisions: readonly RevisionJson[] }).revisions;
    },
    async stop() {
      running.kill("SIGTERM");
      assert.equal((await running.ended()).status, 0);
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

const becomes = (relay: Relayed, expected: string) =>
  eventually(
    () => relay.clusters(),
    (now) => now === expected,
  );

describe("a relay with a state", () => {
  it("keeps what its origin gives as revisions, and rolls back until the origin changes something", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    const origin = await serving(folder);
    await using _ = origin.running;
    await using first = await relaying(folder, "--server", origin.grpc);
    await eventually(first.revisions, (all) => all.length === 1);
    await folder.write("config/a.yaml", clusterYaml("a", "2s"));
    await folder.write("config/b.yaml", clusterYaml("b"));
    await becomes(first, "a=2s b=1s");
    const revisions = await eventually(first.revisions, (all) => all.at(-1)?.number === 1 && all.length >= 2);
    // The two files may have come as one change, or as two.
    const [newest, oldest] = [revisions[0], revisions.at(-1)];
    assert.deepEqual(newest?.cause, { kind: "source", source: "upstream of all" });
    assert.equal(newest?.author, origin.grpc);
    assert.deepEqual([oldest?.upserted, oldest?.removed], [1, 0]);

    const { layers } = (await (await fetch(`${first.admin}/api/v1/layers`)).json()) as { layers: LayerJson[] };
    assert.deepEqual(
      layers.map(({ name, writable, durable }) => [name, writable, durable]),
      [
        ["upstream", false, true],
        ["api", true, true],
      ],
    );
    const shown = await first.run("diff", "--from", oldest?.id ?? "");
    assert.equal(shown.status, 3);
    assert.match(shown.out, /# cluster "b": added/);
    const back = await first.run("rollback", oldest?.id ?? "");
    assert.equal(back.status, 0, back.err);
    assert.equal(await first.clusters(), "a=1s");
    assert.match(first.running.err(), /warn .*rolled back.*until the origin changes/);
    const ready = async () => (await fetch(`${first.admin}/readyz`)).text();
    assert.match(await ready(), /^ready\nupstream of all is rolled back to revision/);

    // Also across restarts of both, which change nothing at the origin.
    await first.stop();
    origin.running.kill("SIGTERM");
    await origin.running.ended();
    const again = await serving(folder, origin.grpc);
    await using __ = again.running;
    await using second = await relaying(folder, "--server", origin.grpc);
    assert.equal(await second.clusters(), "a=1s");
    await folder.write("config/c.yaml", clusterYaml("c"));
    await becomes(second, "a=2s b=1s c=1s");
    await second.running.seen(/the origin has changed something/, "err");
    assert.doesNotMatch(await (await fetch(`${second.admin}/readyz`)).text(), /rolled back/);
    await eventually(second.revisions, ([head]) => head?.cause.kind === "source");
  });

  it("serves layers that the API writes over and under the origin's, also after a restart", async () => {
    await using folder = await testFolder({ "config/a.yaml": `${clusterYaml("a")}---\n${clusterYaml("b")}` });
    const origin = await serving(folder);
    await using _ = origin.running;
    const settings = await folder.write(
      "relay.yaml",
      `upstream: { servers: ["${origin.grpc}"] }\nlayers:\n- { name: base, place: under }\n- { name: fix, place: over }\n`,
    );
    await using first = await relaying(folder, "--settings", settings);
    const own = await folder.write("own.yaml", `${clusterYaml("a", "9s")}---\n${clusterYaml("own", "9s")}`);
    for (const layer of ["base", "fix"]) {
      const applied = await first.run("apply", "-f", own, "--layer", layer);
      assert.equal(applied.status, 0, applied.err);
      const expected = layer === "base" ? "a=1s b=1s own=9s" : "a=9s b=1s own=9s";
      assert.equal(await first.clusters(), expected);
    }
    assert.equal((await first.run("delete", "cluster", "own", "--layer", "base")).status, 0);
    await first.stop();
    await using second = await relaying(folder, "--settings", settings);
    assert.equal(await second.clusters(), "a=9s b=1s own=9s");
    const undone = await second.run("rollback", "--layer", "fix");
    assert.equal(undone.status, 0, undone.err);
    assert.equal(await second.clusters(), "a=1s b=1s");
    const refused = await second.run("apply", "-f", own, "--layer", "upstream");
    assert.deepEqual([refused.status, /XDSKIT_LAYER_READ_ONLY/.test(refused.err)], [1, true], refused.err);
  });

  it("keeps nothing with --state off, and says so when it is asked to roll back", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    const origin = await serving(folder);
    await using _ = origin.running;
    await using relay = await relaying(folder, "--server", origin.grpc, "--state", "off");
    const { status, err } = await relay.run("rollback", "--layer", "upstream");
    assert.deepEqual([status, /no revisions of layer "upstream" are kept/.test(err)], [1, true], err);
  });
});

describe("the settings of a relay that are edited while it runs", () => {
  it("are in use by key, and the log says what needs a restart, or is wrong", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    const origin = await serving(folder);
    await using _ = origin.running;
    const text = (match: string, more = "", wildcard = "") =>
      `upstream: { servers: ["${origin.grpc}"]${wildcard} }\n` +
      `groups: [{ name: edge, match: { id: "${match}" } }]\n${more}`;
    const settings = await folder.write("relay.yaml", text("n*"));
    await using relay = await relaying(folder, "--settings", settings);
    assert.equal(await relay.clusters("--node-id", "n1"), "a=1s");
    await folder.write("relay.yaml", text("m*", "limits: { streams: 100 }\nttl: always\n"));
    await relay.running.seen(/settings in use: groups, limits|settings in use: limits, groups/, "err");
    await relay.running.seen(/restart to use ttl/, "err");
    assert.equal(await relay.clusters("--node-id", "m1"), "a=1s");
    assert.equal(await relay.clusters("--node-id", "n1", "--timeout", "1s"), "");
    await folder.write("relay.yaml", text("m*", "limits: { streams: 100 }\nttl: always\n", ", wildcard: [cluster]"));
    await relay.running.seen(/restart to use ttl, upstream|restart to use upstream, ttl/, "err");
    await folder.write("relay.yaml", "groups: 1\n");
    await relay.running.seen(/the settings in use stay/, "err");
    assert.equal(await relay.clusters("--node-id", "m1"), "a=1s");
  });
});
