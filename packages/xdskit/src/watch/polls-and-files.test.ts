import assert from "node:assert/strict";
import { rename, symlink } from "node:fs/promises";
import { describe, it } from "node:test";
import { createServer } from "@xdskit/server";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcess, type PrintedEvent } from "../testing/in-process.js";
import { cluster } from "../testing/odd-responses.js";

const watch = (...args: readonly string[]) => inProcess(["watch", "--output", "jsonl", "--type", "cluster", ...args]);
const is = (event: string, name?: string) => (one: PrintedEvent) => one.event === event && one.name === name;

describe("xdskit watch without a stream", () => {
  it("polls a server", async () => {
    const server = createServer();
    try {
      server.config.set([cluster("a"), cluster("b")]);
      const { rest } = await server.listen({ rest: "127.0.0.1:0" });
      await using watching = watch("--rest", `http://${rest}`, "--refresh-delay", "50ms", "a", "b", "none");
      const { version } = await watching.seen(is("upsert", "a"));
      await watching.seen(is("not_found", "none"));
      assert.equal(watching.events()[0]?.event, "connected");
      const before = watching.events().length;
      server.config.set([cluster("a", 2)]);
      assert.notEqual((await watching.seen(is("upsert", "a"), before)).version, version);
      await watching.seen(is("delete", "b"));
    } finally {
      await server.close({ timeoutMs: 500 });
    }
  });

  it("says why a poll fails", async () => {
    await using watching = watch("--rest", "http://127.0.0.1:1");
    const { server, nack } = await watching.seen(({ event }) => event === "error");
    assert.deepEqual([server, nack], ["http://127.0.0.1:1", undefined]);
  });

  it("follows a file, and keeps the last good content", async () => {
    const file = (version: string, yaml: string) =>
      `version_info: "${version}"\nresources:\n- ${yaml.trim().replaceAll("\n", "\n  ")}\n`;
    await using folder = await testFolder();
    const path = await folder.write("cds.yaml", file("1", clusterYaml("a")));
    await using watching = watch("--path", path, "--validate", "full");
    assert.equal((await watching.seen(is("upsert", "a"))).version, "1");
    await folder.write("cds.yaml", file("2", clusterYaml("a", "0s")));
    const rejected = await watching.seen(({ event }) => event === "error");
    assert.deepEqual([rejected.nack, rejected.name], [true, "a"]);
    await folder.write("cds.yaml", file("3", clusterYaml("b")));
    assert.equal((await watching.seen(is("upsert", "b"))).version, "3");
    await watching.seen(is("delete", "a"));
  });

  it("follows a watched folder with a swapped link", async () => {
    await using folder = await testFolder({ "..1/cds.yaml": clusterYaml("a"), "..2/cds.yaml": clusterYaml("b") });
    const at = (name: string) => `${folder.path}/${name}`;
    await symlink("..1", at("..data"));
    await symlink("..data/cds.yaml", at("cds.yaml"));
    await using watching = watch("--path", at("cds.yaml"), "--watched-directory", folder.path);
    await watching.seen(is("upsert", "a"));
    await symlink("..2", at("..tmp"));
    await rename(at("..tmp"), at("..data"));
    await watching.seen(is("upsert", "b"));
    await watching.seen(is("delete", "a"));
  });
});
