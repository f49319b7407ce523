import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inProcessEnds, servesHere } from "../testing/in-process.js";

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "xdskit-init-"));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const ports = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];

test("init writes a folder that is valid, is served at once, and names its schemas", () =>
  inFolder(async (folder) => {
    const config = join(folder, "new", "config");
    const made = await inProcessEnds("init", config);
    assert.equal(made.status, 0, made.err);
    const valid = await inProcessEnds("validate", "--strict", config);
    assert.equal(valid.status, 0, valid.out + valid.err);
    assert.match(valid.out, /1 cluster, 1 endpoint, 1 listener, 1 route/);
    await using server = servesHere("serve", config, ...ports, "--state", "off");
    await server.seen(/^ready$/m);
    for (const name of (await readdir(config)).filter((each) => each.endsWith(".yaml"))) {
      const [, schema = ""] = /\$schema=(\S+)\n/.exec(await readFile(join(config, name), "utf8")) ?? [];
      assert.ok(JSON.parse(await readFile(join(config, schema), "utf8")), name);
    }
  }));

test("init writes nothing over what is there", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "routes.yaml"), "mine");
    const { status, err } = await inProcessEnds("init", folder);
    assert.equal(status, 1);
    assert.match(err, /routes\.yaml is there already: nothing was written/);
    assert.deepEqual(await readdir(folder), ["routes.yaml"]);
    assert.equal(await readFile(join(folder, "routes.yaml"), "utf8"), "mine");
  }));
