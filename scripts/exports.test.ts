import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../packages/", import.meta.url));
const read = (file: string) => readFileSync(join(packages, file), "utf8");

/** The modules that are imported by the names of packages, by their `exports`. */
const doors = [
  "grpc-server",
  "api",
  "protocol",
  "server",
  "store-sqlite",
  "store-etcd",
  "source-kubernetes",
  "client",
  "admin",
  "fleet",
  "relay",
  "conformance",
  "xdskit",
].flatMap((folder) => {
  const { exports } = JSON.parse(read(`${folder}/package.json`)) as { exports: Record<string, unknown> };
  return Object.values(exports).flatMap((door) => {
    const source = (door as Record<string, string>)["@xdskit/source"];
    return source === undefined ? [] : [join(folder, source)];
  });
});

interface Exported {
  readonly file: string;
  readonly name: string;
}

/** The exports of a module, and their declarations. */
function exportsOf(file: string): readonly Exported[] {
  const text = read(file);
  const passedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "(\.[^"]+)\.js";$/gm)].flatMap(
    ([, names = "", from = ""]) =>
      names
        .split(",")
        .map((name) =>
          name
            .trim()
            .replace(/^type /, "")
            .replace(/ as .*/, ""),
        )
        .filter((name) => name !== "")
        .map((name) => ({ file: join(dirname(file), `${from}.ts`), name })),
  );
  const own = [...text.matchAll(/^export (?:async )?(?:abstract )?(?:const|function|class|interface|type) (\w+)/gm)];
  const all = [...text.matchAll(/export type \* from "(.*?)\.js"/g)];
  return [
    ...passedOn,
    ...own.map(([, name = ""]) => ({ file, name })),
    ...all.flatMap(([, from = ""]) => exportsOf(join(dirname(file), `${from}.ts`))),
  ];
}

test("everything that a package exports has a doc comment", () => {
  const exported = doors.flatMap(exportsOf);
  assert.ok(exported.length > 300, `only ${exported.length} exports`);
  const without = exported.filter(({ file, name }) => {
    const declared = `\\*/\\nexport (?:async )?(?:abstract )?(?:const|function\\*?|class|interface|type) ${name}\\b`;
    // A library's own declaration has its comment there.
    return !new RegExp(`${declared}|^export type \\{ ${name} \\};$`, "m").test(read(file));
  });
  assert.deepEqual(
    without.map(({ file, name }) => `${file}: ${name}`),
    [],
  );
});
