import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { createClient } from "@xdskit/client";
import { createApiClient } from "../api-client/api-client.js";
import { findRevision } from "../api-client/find-revision.js";
import { waitForNodes } from "../api-writes/wait-for-nodes.js";
import { eventually } from "../testing/command.js";
import { clusterYaml } from "../testing/folder.js";
import { inProcess, inProcessEnds, servesHere } from "../testing/in-process.js";
import { type Broken, passing } from "../testing/passing.js";
import { served } from "../testing/served.js";

describe("xdskit apply", () => {
  test("says with --wait that the nodes have the change, or that it concerns none", async () => {
    await using server = await served({ "c.yaml": clusterYaml("folder") });
    const nobody = await server.run("apply", "-f", await server.file("w.yaml", clusterYaml("web", "2s")), "--wait");
    assert.equal(nobody.status, 0, nobody.err);
    assert.match(nobody.out, /\nno node has a stream that this change concerns\n$/);
    const args = ["watch", "cluster", "--server", server.grpc, "--node-id", "edge", "--output", "jsonl"];
    await using watch = inProcess(args);
    await watch.seen(({ name }) => name === "web");
    const file = await server.file("w.yaml", clusterYaml("web", "3s"));
    const { status, out } = await server.run("apply", "-f", file, "--wait=50%");
    assert.equal(status, 0);
    assert.match(out, /\n1 of 1 node acknowledged it\n$/);
    const change = await server.file("w.yaml", clusterYaml("web", "4s"));
    const json = await server.run("apply", "-f", change, "--wait", "--output", "json");
    const { result, arrival, revision, changed } = JSON.parse(json.out);
    assert.deepEqual([json.status, result, changed.length, revision.layer], [0, "acknowledged", 1, "api"]);
    assert.equal(arrival.counts.acknowledged, 1);
  });

  test("does not wait where nothing changes, and says nothing about the change before, which a node rejected", async () => {
    await using server = await served({ "c.yaml": clusterYaml("folder") });
    const acknowledge = async ({ upserted }: { readonly upserted: readonly { readonly name: string }[] }) => {
      if (upserted.some(({ name }) => name === "bad")) throw new Error("no such cluster");
    };
    const client = createClient({ servers: [server.grpc], node: { id: "edge" }, acknowledge });
    try {
      await new Promise<void>((seen) => client.watch("cluster", "*", { onChanged: () => seen() }));
      const good = await server.file("good.yaml", clusterYaml("good"));
      assert.match((await server.run("apply", "-f", good, "--wait")).out, /\n1 of 1 node acknowledged it\n$/);
      const bad = await server.run("apply", "-f", await server.file("bad.yaml", clusterYaml("bad")), "--wait");
      assert.match(bad.out, /\n {2}edge rejected it: .*no such cluster\n$/);
      const again = await server.run("apply", "-f", good, "--wait");
      assert.deepEqual([again.status, again.out, again.err], [0, "layer api: nothing changes\n", ""]);
      const json = await server.run("apply", "-f", good, "--wait", "--output", "json");
      const { changed, ...answer } = JSON.parse(json.out);
      assert.deepEqual([json.status, changed, "result" in answer, "arrival" in answer], [0, [], false, false]);
    } finally {
      await client.close();
    }
  });

  test("waits with --wait=50% for half of several nodes, and names those that are silent if more must answer", async () => {
    await using server = await served({ "c.yaml": clusterYaml("folder") });
    const clients = ["quick-1", "quick-2", "silent-1", "silent-2"].map((id) => {
      const acknowledge = id.startsWith("silent") ? () => new Promise<void>(() => {}) : undefined;
      return createClient({ servers: [server.grpc], node: { id }, acknowledge });
    });
    try {
      const seen = new Map<string, number>();
      for (const [index, client] of clients.entries())
        client.watch("cluster", "*", { onChanged: ({ resources }) => void seen.set(`${index}`, resources.size) });
      await eventually(
        async () => seen,
        ({ size }) => size === clients.length,
      );
      const apply = async (time: string, ...how: readonly string[]) =>
        await server.run("apply", "-f", await server.file("w.yaml", clusterYaml("web", time)), ...how);
      const half = await apply("1s", "--wait=50%");
      assert.equal(half.status, 0, half.out + half.err);
      assert.match(half.out, /\n2 of 4 nodes acknowledged it, 2 did not answer yet\n/);
      for (const [time, wait] of [
        ["2s", "--wait=51%"],
        ["3s", "--wait"],
      ] as const) {
        const more = await apply(time, wait, "--timeout", "1s");
        assert.equal(more.status, 1);
        assert.match(more.out, /\n2 of 4 nodes acknowledged it, 2 did not answer within 1 s\n/);
        const silent = Array.from(more.out.matchAll(/^ {2}(silent-\d) has not answered/gm), ([, id]) => id);
        assert.deepEqual(silent.sort(), ["silent-1", "silent-2"]);
      }
    } finally {
      for (const client of clients) await client.close();
    }
  });
});

describe("a wait for nodes", () => {
  const isArrival = (path: string) => path.includes("/arrival");
  const nothing = async () => {};

  test("goes on while the server is away or starts again", async () => {
    await using server = await served({ "c.yaml": clusterYaml("folder") });
    const faults: (Broken | undefined)[] = [{ status: 503 }, "cut", { status: 502 }];
    await using proxy = await passing(server.admin, nothing, (path) => (isArrival(path) ? faults.shift() : undefined));
    const file = await server.file("w.yaml", clusterYaml("web"));
    const { status, out, err } = await inProcessEnds("apply", "-f", file, "--wait", "--server", proxy.url);
    assert.deepEqual([status, err, faults.length], [0, "", 0]);
    assert.match(out, /\nno node has a stream that this change concerns\n$/);
  });

  test("does not end because all nodes that were counted went away", async () => {
    const nobody = { acknowledged: 0, rejected: 0, pending: 0, "held-back": 0 };
    const answers = [{ ...nobody, pending: 1 }, nobody, nobody, { ...nobody, acknowledged: 1 }];
    const get = async () => ({ revision: "r", counts: answers.shift() ?? nobody, nodes: [], uncounted: [] }) as never;
    const { result } = await waitForNodes({ get }, "r", { percent: 100 }, 60_000);
    assert.deepEqual([result, answers.length], ["acknowledged", 0]);
  });

  test("goes on where the server starts again, until nodes that the change concerns come back", async () => {
    await using server = await served({ "c.yaml": clusterYaml("folder") });
    const state = join(dirname(await server.file("w.yaml", clusterYaml("web"))), "state");
    const acknowledge = () => new Promise<void>(() => {});
    const silent = createClient({ servers: [server.grpc], node: { id: "edge" }, acknowledge });
    silent.watch("cluster", "*", { onChanged: () => {} });
    const admin = new URL(server.admin);
    const file = await server.file("w.yaml", clusterYaml("web", "2s"));
    await eventually(
      () => server.ask("/api/v1/nodes") as Promise<{ readonly nodes: readonly unknown[] }>,
      ({ nodes }) => nodes.length === 1,
    );
    await using waiting = inProcess(["apply", "-f", file, "--wait", "--timeout", "60s", "--server", server.admin]);
    await eventually(
      async () => waiting.out(),
      (out) => out.includes("\nrevision "),
    );
    const [, short = ""] = /\nrevision (\S+)/.exec(waiting.out()) ?? [];
    server.running.kill("SIGTERM");
    await server.running.ended();
    await silent.close();
    const places = ["--grpc", server.grpc, "--admin", admin.host, "--rest", "127.0.0.1:0"];
    await using again = servesHere("serve", server.folder.path, "--state", state, ...places);
    await again.seen(/^ready$/m);
    const asked = async () => {
      const [, times = "0"] = /^xdskit_api_requests_total\{status="200"\} (\d+)$/m.exec(await metrics()) ?? [];
      return Number(times);
    };
    const metrics = async () => (await fetch(new URL("/metrics", admin))).text();
    // The second question shows that the first answer did not end the wait.
    const isOver = waiting.status.then(() => true);
    await Promise.race([isOver, eventually(asked, (times) => times >= 2)]);
    assert.doesNotMatch(waiting.out(), /no node has a stream/);
    const client = createApiClient({ server: { url: admin }, timeoutMs: 5_000 });
    const { id } = await findRevision(client, short);
    const { result, arrival } = await waitForNodes(client, id, { percent: 100 }, 300);
    client.close();
    assert.equal(result, "timeout");
    assert.match(arrival?.uncounted[0]?.reason ?? "", /^it started after the change, and no node/);
    await using watch = inProcess(["watch", "cluster", "--server", server.grpc, "--node-id", "edge"]);
    assert.equal(await waiting.status, 0, watch.err());
    assert.match(waiting.out(), /\n1 of 1 node acknowledged it\n$/);
  });

  test("ends with the time although the server does not answer, and says what was changed", async () => {
    const settings = "layers:\n- { name: low, place: under }\n- { name: high, place: over }\n";
    await using server = await served({ "c.yaml": clusterYaml("folder"), "xdskit.yaml": settings });
    await using proxy = await passing(server.admin, nothing, (path) => (isArrival(path) ? "silent" : undefined));
    const wait = ["--wait", "--timeout", "500ms", "--server", proxy.url];
    const asked = /^xdskit \w+: the change is made, but it is not known which nodes have it: .* did not answer within /;
    for (const name of ["low", "high"]) {
      const file = await server.file("w.yaml", clusterYaml(name));
      const more = ["--layer", name, ...wait];
      const applied = await inProcessEnds("apply", "-f", file, "--output", "json", ...more);
      assert.equal(applied.status, 1);
      assert.match(applied.err, asked);
      const { revision, changed, result, arrival } = JSON.parse(applied.out);
      assert.deepEqual([revision.layer, changed.length, result, arrival], [name, 1, "timeout", null]);
    }
    const backup = await server.file("backup.json", (await server.run("export")).out);
    for (const name of ["low", "high"]) await server.run("delete", "cluster", name, "--layer", name);
    const text = await inProcessEnds("import", backup, ...wait);
    assert.equal(text.status, 1);
    assert.match(text.err, asked);
    assert.deepEqual(text.out.match(/^revision .*$/gm)?.length, 2, "the second layer is restored, too");
    for (const name of ["low", "high"]) await server.run("delete", "cluster", name, "--layer", name);
    const { layers } = JSON.parse((await inProcessEnds("import", backup, "--output", "json", ...wait)).out);
    assert.deepEqual(
      layers.map(({ layer, result }: { layer: string; result: string }) => [layer, result]),
      [
        ["low", "timeout"],
        ["high", "timeout"],
      ],
    );
  });

  test("is not begun where the server cuts the connection before it answers, and the error says so", async () => {
    await using proxy = await passing("http://127.0.0.1:1", nothing, () => "cut");
    const { status, out, err } = await inProcessEnds("history", "--server", proxy.url);
    assert.deepEqual([status, out], [1, ""]);
    assert.match(err, /^xdskit history: \S+ ended the connection before it answered: /);
    assert.doesNotMatch(err, /does not speak HTTP/);
  });
});
