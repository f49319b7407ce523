import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { assertDescribed } from "../../../admin/src/testing/described.js";
import { eventually, xdskit } from "../testing/command.js";
import { clusterYaml, routesYaml, testFolder } from "../testing/folder.js";
import { inProcess, inProcessEnds, type RunningServer, servesHere } from "../testing/in-process.js";

const anyPorts = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];
const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const cluster = (name: string, timeout = "1s") => ({ "@type": clusterUrl, name, connectTimeout: timeout });

/** A server on a folder, and its API. */
class Server implements AsyncDisposable {
  readonly running: RunningServer;

  /** `starts`: in this process, or in one of its own. */
  constructor(folder: string, state: string, starts: (...args: readonly string[]) => RunningServer = servesHere) {
    this.running = starts("serve", folder, "--state", state, "--settle", "20ms", ...anyPorts);
  }

  async address(listener: "grpc" | "admin"): Promise<string> {
    const [, address = ""] = await this.running.seen(new RegExp(`^${listener} listening on (\\S+)$`, "m"));
    await this.running.seen(/^ready$/m);
    return address;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes.
  async ask(method: string, path: string, body?: object): Promise<any> {
    const response = await fetch(`http://${await this.address("admin")}/api/v1/${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${path}: ${response.status} ${response.ok || (await response.clone().text())}`);
    return response.json();
  }

  /** The clusters that it serves, sorted. */
  async names(): Promise<string> {
    const { out } = await inProcessEnds(
      "get",
      "--type",
      "cluster",
      "--server",
      await this.address("grpc"),
      "-o",
      "name",
    );
    return out.replaceAll("cluster/", "").trim().split("\n").sort().join(" ");
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.running.kill(signal);
    await this.running.ended();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.running[Symbol.asyncDispose]();
  }
}

describe("a layer of the API", () => {
  it("reaches a client that watches, and says its name in a finding about it", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a"), "config/r.yaml": routesYaml("a") });
    await using server = new Server(`${folder.path}/config`, `${folder.path}/state`);
    const how = ["--server", await server.address("grpc"), "--type", "cluster", "--output", "jsonl"];
    await using watching = inProcess(["watch", ...how]);
    await watching.seen(({ event, name }) => event === "upsert" && name === "a");
    const { stages } = await server.ask("POST", "layers/api/changes", { upsert: [cluster("b"), cluster("a", "9s")] });
    assert.deepEqual(stages[0].stages[0].changes[0], { type: "cluster", added: ["b"], changed: ["a"], removed: [] });
    await watching.seen(({ event, name }) => event === "upsert" && name === "b");
    await server.ask("DELETE", "layers/api/resources/cluster/b");
    await watching.seen(({ event, name }) => event === "delete" && name === "b");
    const route = {
      "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
      name: "own",
      virtualHosts: [
        { name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "nowhere" } }] },
      ],
    };
    const { revision } = await server.ask("POST", "layers/api/changes", { upsert: [route] });
    const { counts } = await server.ask("GET", `revisions/${revision.id}/arrival`);
    assert.deepEqual(counts, { acknowledged: 0, rejected: 0, pending: 0, "held-back": 0 });
    await server.running.seen(/layer api.*nowhere/, "err");
    const { sources } = await server.ask("GET", "sources");
    assert.equal(sources[0].findings[0].file, "layer api");
  });

  it("loses no change that was answered, whenever the server is killed", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    const answered: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      await using server = new Server(`${folder.path}/config`, `${folder.path}/state`, xdskit);
      const { resources } = await server.ask("GET", "layers/api/resources");
      const held = new Set(resources.map(({ name }: { name: string }) => name));
      assert.deepEqual(
        answered.filter((name) => !held.has(name)),
        [],
      );
      const writers = Array.from({ length: 20 }, async (_, index) => {
        const name = `c${round}-${index}`;
        await server.ask("POST", "layers/api/changes", { upsert: [cluster(name)] });
        answered.push(name);
        // In the middle of what others write.
        if (index === 3 + round * 7) server.running.kill("SIGKILL");
      });
      await Promise.allSettled(writers);
      await server.stop("SIGKILL");
    }
    assert.ok(answered.length >= 4);
    await using server = new Server(`${folder.path}/config`, `${folder.path}/state`);
    const names = new Set((await server.names()).split(" "));
    assert.deepEqual(
      [...answered, "a"].filter((name) => !names.has(name)),
      [],
    );
  });

  it("keeps a lease that is renewed at one of two servers on one state", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    const paths = [`${folder.path}/config`, `${folder.path}/state`] as const;
    await using first = new Server(...paths, xdskit);
    await first.address("admin");
    await using second = new Server(...paths, xdskit);
    await second.address("admin");
    const leaseMs = 5_000;
    const held = () =>
      Promise.all(
        [first, second].map(async (server) => {
          const { resources } = await server.ask("GET", "layers/api/resources");
          return resources.some(({ name }: { name: string }) => name === "b");
        }),
      );
    /** Renews for two lease times. False: the machine was so slow that the lease may have ended. */
    const isKept = async () => {
      let renewedAt = performance.now();
      const { lease } = await first.ask("PUT", "layers/api/resources/cluster/b?lease=5s", cluster("b"));
      for (const end = renewedAt + 2 * leaseMs; performance.now() < end; ) {
        await delay(500);
        const askedAt = performance.now();
        const renewed = await first.ask("POST", `leases/${lease.id}/renew`).catch((error: Error) => error);
        const found = await held();
        if (performance.now() - renewedAt > leaseMs) return false;
        assert.ok(!(renewed instanceof Error), `${renewed}`);
        assert.deepEqual(found, [true, true]);
        renewedAt = askedAt;
      }
      return true;
    };
    for (let tries = 1; !(await isKept()); tries += 1) assert.ok(tries < 10, "the machine is too slow for this test");
    // Once nobody renews it, it ends at both.
    await eventually(
      async () => [await first.names(), await second.names()],
      (names) => names.every((one) => one === "a"),
    );
  });

  it("works without a state, and says that it does not last", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using server = new Server(folder.path, "off");
    await server.ask("POST", "layers/api/changes", { upsert: [cluster("b")] });
    assert.equal(await server.names(), "a b");
    const { layers } = await server.ask("GET", "layers");
    assert.deepEqual(
      layers.map(({ name, durable, head }: Record<string, unknown>) => [name, durable, head !== null]),
      [
        ["folder", false, false],
        ["api", false, true],
      ],
    );
  });

  it("lies where the settings say, for the groups that they name", async () => {
    const settings = `groups:
  - { name: edge, match: { id: edge }, folders: [shared] }
  - { name: rest, match: {}, folders: [shared] }
layers:
  - { name: defaults, place: under }
  - { name: canary, groups: [edge] }
`;
    await using folder = await testFolder({ "xdskit.yaml": settings, "shared/a.yaml": clusterYaml("a") });
    await using server = new Server(folder.path, "off");
    const { layers } = await server.ask("GET", "layers");
    assert.deepEqual(
      layers.map(({ name, place }: Record<string, unknown>) => [name, place]),
      [
        ["defaults", "under"],
        ["shared", null],
        ["canary", "over"],
      ],
    );
    const under = await server.ask("POST", "layers/defaults/changes", { upsert: [cluster("a", "7s"), cluster("d")] });
    assert.deepEqual(
      under.stages.map(({ group, stages }: { group: string; stages: readonly { changes: unknown }[] }) => [
        group,
        stages[0]?.changes,
      ]),
      ["edge", "rest"].map((group) => [group, [{ type: "cluster", added: ["d"], changed: [], removed: [] }]]),
    );
    const over = await server.ask("POST", "layers/canary/changes", { upsert: [cluster("a", "8s")] });
    assert.deepEqual(
      over.stages.map(({ group }: { group: string }) => group),
      ["edge"],
    );
  });
});

describe("a rollback of the folder", () => {
  it("is served at once, is said everywhere, and holds across a restart until the folder changes", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    const state = `${folder.path}/state`;
    {
      await using server = new Server(`${folder.path}/config`, state);
      await server.address("admin");
      await folder.write("config/b.yaml", clusterYaml("b"));
      await eventually(
        () => server.ask("GET", "revisions?layer=folder"),
        ({ revisions }) => revisions.length === 2,
      );
      await server.ask("POST", "layers/folder/rollback", { message: "b is wrong" });
      assert.equal(await server.names(), "a");
      await server.running.seen(/rolled back/, "err");
      const how = ["status", "--server", await server.address("grpc")];
      const said =
        /^folder \S+: revision \S+ is served since \S+, after a rollback, until the source changes\nno nodes\n$/;
      assert.match((await inProcessEnds(...how)).out, said);
      const [trouble] = JSON.parse((await inProcessEnds(...how, "--json")).out).troubles;
      assert.equal(trouble.kind, "rolled-back");
      await server.stop();
    }
    await using server = new Server(`${folder.path}/config`, state);
    assert.equal(await server.names(), "a");
    const { sources } = await server.ask("GET", "sources");
    assert.equal(sources[0].rolledBack.layer, "folder");
    const readyz = await (await fetch(`http://${await server.address("admin")}/readyz`)).text();
    assert.match(readyz, /^ready\n.* is rolled back to revision \S+ since \S+, until it changes\n$/);
    await folder.write("config/c.yaml", clusterYaml("c"));
    await eventually(
      () => server.names(),
      (names) => names === "a b c",
    );
    assert.equal((await server.ask("GET", "sources")).sources[0].rolledBack, null);
    assert.equal((await inProcessEnds("status", "--server", await server.address("grpc"))).out, "no nodes\n");
  });
});

describe("a rollback of the folder that another one takes back", () => {
  it("is said nowhere any more, also across a restart", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    const start = () => new Server(`${folder.path}/config`, `${folder.path}/state`);
    const assertNotSaid = async (server: Server, names: string) => {
      await eventually(
        () => server.names(),
        (found) => found === names,
      );
      assert.equal(await (await fetch(`http://${await server.address("admin")}/readyz`)).text(), "ready\n");
      assert.equal((await server.ask("GET", "sources")).sources[0].rolledBack, null);
      assert.equal((await inProcessEnds("status", "--server", await server.address("grpc"))).out, "no nodes\n");
    };
    {
      await using server = start();
      await server.address("admin");
      await folder.write("config/b.yaml", clusterYaml("b"));
      await eventually(
        () => server.ask("GET", "revisions?layer=folder"),
        ({ revisions }) => revisions.length === 2,
      );
      await server.ask("POST", "layers/folder/rollback", { message: "b is wrong" });
      assert.equal(await server.names(), "a");
      await server.ask("POST", "layers/folder/rollback", { message: "b was right" });
      await assertNotSaid(server, "a b");
      // It is read again, and is the same.
      await folder.write("config/b.yaml", clusterYaml("b", "never"));
      await server.running.seen(/change refused/, "err");
      await folder.write("config/b.yaml", clusterYaml("b"));
      await eventually(
        () => server.ask("GET", "sources"),
        ({ sources }) => sources[0].findings.length === 0,
      );
      await assertNotSaid(server, "a b");
      await server.stop();
    }
    await using server = start();
    await assertNotSaid(server, "a b");
    await folder.remove("config/a.yaml");
    await assertNotSaid(server, "b");
  });
});

describe("the page of the API", () => {
  it("has commands that work as they stand there", async () => {
    const page = readFileSync(fileURLToPath(new URL("../../../../docs/api.md", import.meta.url)), "utf8");
    const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text).join("\n");
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    await using server = new Server(`${folder.path}/config`, `${folder.path}/state`);
    const script = commands.replaceAll("127.0.0.1:19000", await server.address("admin"));
    await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd: folder.path });
    const { revisions } = await server.ask("GET", "revisions?layer=api");
    assert.deepEqual(
      revisions.map(({ cause }: { cause: { kind: string } }) => cause.kind),
      ["api", "rollback", "api"],
    );
    assert.equal((await server.ask("GET", "leases")).leases.length, 1);
  });

  it("leads to a document whose every path is answered as it says", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using server = new Server(folder.path, "off");
    const document = await server.ask("GET", "openapi.json");
    const admin = await server.address("admin");
    for (const [path, methods] of Object.entries<object>(document.paths)) {
      for (const method of Object.keys(methods)) {
        const asked = path.replace("{action}", "halt").replaceAll(/\{\w+\}/g, "x");
        const init = { method: method.toUpperCase(), signal: AbortSignal.timeout(5_000) };
        const response = await fetch(`http://${admin}${asked}`, init);
        const contentType = response.headers.get("content-type") ?? "";
        const text = contentType === "text/event-stream" ? "" : await response.text();
        assert.doesNotMatch(text, /XDSKIT_API_UNKNOWN/, `${method} ${path}`);
        const { status } = response;
        assertDescribed(document, { method, path: asked, status, contentType, text });
        await response.body?.cancel().catch(() => {});
      }
    }
  });
});
