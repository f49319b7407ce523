import assert from "node:assert/strict";
import { describe, test } from "node:test";
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
});
