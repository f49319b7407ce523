import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createClient } from "@xdskit/client";
import { eventually } from "../testing/command.js";
import { clusterYaml } from "../testing/folder.js";
import { inProcess } from "../testing/in-process.js";
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
    const json = await server.run("apply", "-f", file, "--wait", "--output", "json");
    const { result, arrival, revision, changed } = JSON.parse(json.out);
    assert.deepEqual([json.status, result, changed.length, revision.layer], [0, "acknowledged", 0, "api"]);
    assert.equal(arrival.counts.acknowledged, 1);
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
        assert.match(more.out, /\n {2}silent-1 has not answered.*\n {2}silent-2 has not answered/);
      }
    } finally {
      for (const client of clients) await client.close();
    }
  });
});
