import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { peer } from "./harness/basics/peers.js";
import { createScene } from "./harness/basics/scene.js";
import { xdskitCommand } from "./harness/xdskit/xdskit.js";

const execute = promisify(execFile);

const hosts = ["127.0.0.1:18000", "[::1]:18000", "xds.example.org:18000"];
const ways = ["sotw", "delta"].flatMap((variant) =>
  ["--ads", "--per-type"].flatMap((streams) =>
    hosts.map((server): readonly string[] => ["--variant", variant, streams, "--server", server]),
  ),
);

test("Envoy accepts every bootstrap that the command prints", { timeout: 120_000 }, async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  const { directory } = await createScene(t);
  const { command, args } = xdskitCommand();
  for (const [number, way] of [...ways, ["--load-reports"]].entries()) {
    await t.test(way.join(" "), async () => {
      const { stdout } = await execute(command, [...args, "bootstrap", ...way]);
      const file = join(directory, `${number}.yaml`);
      await writeFile(file, stdout);
      const accepted = await execute(envoy, ["--mode", "validate", "-c", file], { timeout: 30_000 });
      assert.match(accepted.stdout, / OK\n/);
    });
  }
});
