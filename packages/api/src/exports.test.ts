import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { DescFile } from "@bufbuild/protobuf";
import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { envoyRegistry } from "./registry/registry.js";

const packageDir = fileURLToPath(new URL("..", import.meta.url));
const generated = readdirSync(join(packageDir, "gen"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith("_pb.js"))
  .map((file) => file.replaceAll("\\", "/").slice(0, -"_pb.js".length));

test("every generated module can be imported by its public name, and has types", async () => {
  assert.ok(generated.length > 400, `only ${generated.length} generated modules`);
  for (const name of generated) {
    const module: Record<string, unknown> = await import(`@xdskit/api/${name}`);
    const file = Object.values(module).find(isFile);
    assert.equal(file?.name, name);
    assert.ok(existsSync(join(packageDir, "gen", `${name}_pb.d.ts`)), name);
  }
});

test("the registry has the file of every generated module", () => {
  const known = new Set(Array.from(envoyRegistry().files, (file) => file.name));
  assert.deepEqual(
    generated.filter((name) => !known.has(name)),
    [],
  );
});

test("types of generated modules reach TypeScript", () => {
  const name: keyof Cluster = "edsClusterConfig";
  // @ts-expect-error: not a field of a cluster. If types were lost, everything would be allowed here.
  const wrong: keyof Cluster = "edsClusterConfiguration";
  assert.notEqual(name, wrong);
});

test("the published package holds the generated code", () => {
  const { files } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as { files: readonly string[] };
  assert.ok(files.includes("gen") && files.includes("dist"));
});

function isFile(value: unknown): value is DescFile {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}
