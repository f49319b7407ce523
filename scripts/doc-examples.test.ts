import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
/** In the checkout: the examples import the packages as programs do. */
const folder = join(root, ".cache/doc-examples");

/** These have an example, at least: a program begins with them. */
const first = [
  ...["createServer", "createFolderSource", "layer", "createMemoryTransport", "createStatusClient"],
  ...["createClient", "watch", "createClientMetrics", "createRelay", "createAdmin", "createAdminApi", "newToken"],
  ...["openSqliteStore", "openEtcdStore", "createResource", "createResourceTypes", "createRegistry"],
  ...["readResources", "resourcesFrom", "messagesFrom", "writeMessage", "writeResources", "validateMessage"],
  ...["httpListener", "grpcListener", "grpcServerListener", "routeConfiguration", "loadAssignment"],
  ...["edsCluster", "dnsCluster", "staticCluster", "certificateSecret", "trustedCaSecret"],
  ...["runtimeLayer", "extensionConfig", "stdoutAccessLog"],
];

interface Example {
  /** What the doc comment stands at. */
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

function examplesIn(file: string): readonly Example[] {
  const source = readFileSync(join(root, file), "utf8");
  return [...source.matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*?@example(?:(?!\*\/)[\s\S])*\*\/\s*(.*)/g)].map((found) => {
    const [comment = "", declared = ""] = found;
    const name = /^(?:export )?(?:async )?(?:function )?(\w+)/.exec(declared)?.[1] ?? "";
    const lines = comment.split("\n").map((line) => line.replace(/^\s*\* ?/, ""));
    const start = lines.indexOf("```ts");
    const text = lines.slice(start + 1, lines.indexOf("```", start + 1)).join("\n");
    assert.ok(start > 0 && text !== "", `${file}: the example of ${name} has no block of ts`);
    return { name, file, line: source.slice(0, found.index).split("\n").length + start, text };
  });
}

/** What pages leave to the reader. */
const ofReaders = `
declare function clusterFromDatabase(name: string): Promise<import("@xdskit/api/envoy/config/cluster/v3/cluster").Cluster>;
declare function hostFromDatabase(
  host: string | undefined,
): Promise<import("@xdskit/api/envoy/config/route/v3/route_components").VirtualHost | undefined>;
`;

/** The programs of a page of the manual: what imports something is whole. */
function programsIn(file: string): readonly Example[] {
  const page = readFileSync(join(root, file), "utf8");
  return [...page.matchAll(/^```ts\n(.*?)^```/gms)].flatMap(({ 1: text = "", index }) => {
    if (!/^import /m.test(text)) return [];
    return [{ name: "", file, line: page.slice(0, index).split("\n").length, text: text + ofReaders }];
  });
}

const examples = readdirSync(join(root, "packages"))
  .flatMap((name) =>
    readdirSync(join(root, "packages", name, "src"), { recursive: true }).map((path) => `packages/${name}/src/${path}`),
  )
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .flatMap(examplesIn);
const programs = readdirSync(join(root, "docs"))
  .filter((name) => name.endsWith(".md"))
  .flatMap((name) => programsIn(`docs/${name}`));

before(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("the functions that a program begins with have an example in their comment", () => {
  const names = new Set(examples.map(({ name }) => name));
  assert.deepEqual(
    first.filter((name) => !names.has(name)),
    [],
  );
});

// It compares with what was compiled: with the packages' declarations, as a program has them.
test("the examples in comments and on pages are programs that compile, in the strictest way", () => {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
    target: "es2023",
    module: "nodenext",
    moduleResolution: "nodenext",
    types: ["node"],
  };
  const all = [...examples, ...programs];
  for (const [at, { text }] of all.entries()) writeFileSync(join(folder, `example-${at}.mts`), `${text}\nexport {};\n`);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.mts"] }));
  const tsc = join(root, "node_modules/typescript-native/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], {
    encoding: "utf8",
  });
  const told = stdout.replace(/^(?:.*\/)?example-(\d+)\.mts\((\d+),(\d+)\)/gm, (_, at, line, column) => {
    const example = all[Number(at)];
    return `${example?.file}:${(example?.line ?? 0) + Number(line)}:${column} (${example?.name})`;
  });
  assert.equal(status, 0, told);
});
