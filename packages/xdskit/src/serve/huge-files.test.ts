import assert from "node:assert/strict";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { eventually } from "../testing/command.js";
import { clusterYaml } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { type Served, servedApart } from "../testing/served.js";

const bytes = 60_000_000;
const filled = (start: string, each: string, end: string) =>
  Buffer.concat([Buffer.from(start), Buffer.alloc(bytes, each, "latin1"), Buffer.from(end)]);

/** Files of 60 MB that would be millions of values. */
const huge: readonly (readonly [file: string, content: () => Buffer])[] = [
  ["lists.json", () => filled('{"resources":[', "[],", "[]]}")],
  ["lines.yaml", () => filled("", "- 1\n", "")],
  ["empty.pb", () => filled("", "\x12\0", "")],
];

async function memoryOf({ admin }: Served): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const [, value] = /^process_resident_memory_bytes (\S+)$/m.exec(text) ?? assert.fail("no memory");
  return Number(value);
}

describe("a file of 60 MB in a folder that is served", () => {
  for (const [file, content] of huge) {
    it(`is an error with its name (${file}), and ends nothing`, { timeout: 240_000 }, async () => {
      await using server = await servedApart({ "a.yaml": clusterYaml("a") });
      const before = await memoryOf(server);
      let most = 0;
      const watch = setInterval(async () => {
        most = Math.max(most, await memoryOf(server).catch(() => 0));
      }, 200);
      try {
        const aside = join(server.folder.path, ".huge.tmp");
        await writeFile(aside, content());
        await rename(aside, join(server.folder.path, file));
        await server.folder.write("b.yaml", clusterYaml("b"));
        await server.running.seen(new RegExp(`${file.replace(".", "\\.")}.*more than \\d+`), "err");
        await server.folder.remove(file);
        const names = () => inProcessEnds("get", "--type", "cluster", "-o", "name", "--server", server.grpc);
        await eventually(names, ({ out }) => out === "cluster/a\ncluster/b\n");
      } finally {
        clearInterval(watch);
      }
      assert.ok(most > before, "its memory was never read");
      assert.ok(most - before < 10 * bytes, `${Math.round((most - before) / 1e6)} MB`);
    });
  }
});
