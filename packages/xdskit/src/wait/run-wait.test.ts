import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createClient } from "@xdskit/client";
import { clusterYaml } from "../testing/folder.js";
import { served } from "../testing/served.js";

/** A client that rejects clusters with this name. */
async function clientOf(grpc: string, rejects?: string) {
  const acknowledge = async ({ upserted }: { readonly upserted: readonly { readonly name: string }[] }) => {
    if (upserted.some(({ name }) => name === rejects)) throw new Error("no such cluster");
  };
  const client = createClient({ servers: [grpc], node: { id: "edge" }, acknowledge });
  await new Promise<void>((seen) => client.watch("cluster", "*", { onChanged: () => seen() }));
  return client;
}

describe("xdskit wait, and status --check", () => {
  test("end well without nodes, and once all nodes have a revision or all that there is", async () => {
    await using server = await served({ "c.yaml": clusterYaml("folder") });
    assert.deepEqual(await server.run("wait"), { status: 0, out: "0 of 0 nodes synced\n", err: "", signal: null });
    const client = await clientOf(server.grpc);
    try {
      const waited = await server.run("wait");
      assert.deepEqual([waited.status, waited.out], [0, "1 of 1 node synced\n"]);
      const file = await server.file("w.yaml", clusterYaml("web"));
      const { revision } = JSON.parse((await server.run("apply", "-f", file, "--output", "json")).out);
      const one = await server.run("wait", revision.id.slice(0, 8), "--output", "json");
      assert.equal(one.status, 0, one.err);
      assert.equal(JSON.parse(one.out).result, "acknowledged");
      assert.equal((await server.run("status", "--check")).status, 0);
    } finally {
      await client.close();
    }
  });

  test("end with 1 if a node rejects what there is, and say how many", async () => {
    await using server = await served({ "c.yaml": clusterYaml("folder") });
    const client = await clientOf(server.grpc, "bad");
    try {
      await server.run("apply", "-f", await server.file("bad.yaml", clusterYaml("bad")));
      const waited = await server.run("wait");
      assert.equal(waited.status, 1);
      assert.match(waited.out, /^0 of 1 node synced, 1 rejected\n$/);
      assert.equal((await server.run("status", "--check")).status, 1);
      assert.equal((await server.run("status")).status, 0);
    } finally {
      await client.close();
    }
  });

  test("end with 1 if the folder has errors, and say where", async () => {
    await using server = await served({ "c.yaml": clusterYaml("folder") });
    await server.folder.write("c.yaml", "name: {");
    const waited = await server.run("wait", "--timeout", "20s");
    assert.equal(waited.status, 1);
    assert.match(waited.out, /c\.yaml/);
    assert.equal((await server.run("status", "--check")).status, 1);
  });

  test("an unknown revision is an error, and --for needs one", async () => {
    await using server = await served({ "c.yaml": clusterYaml("folder") });
    const unknown = await server.run("wait", "0123456789");
    assert.equal(unknown.status, 1);
    assert.match(unknown.err, /there is no revision "0123456789"/);
    const usage = await server.run("wait", "--for", "50%");
    assert.equal(usage.status, 2);
    assert.match(usage.err, /--for needs a revision/);
  });
});
