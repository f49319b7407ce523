import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { entries, read, root } from "./checkout.js";
import { programs } from "./pages.js";

/** The strictest that a program may choose. It names no types: what the packages need they bring. */
const strictest = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  target: "es2023",
  types: [],
};

/** Everything that is published, and the programs of the pages and of the example. */
const modules: Readonly<Record<string, string>> = {
  "everything.ts": entries.map((entry, at) => `export * as e${at} from "${entry}";\n`).join(""),
  ...Object.fromEntries(programs.map((text, at) => [`page-${at}.ts`, text])),
  ...Object.fromEntries(
    readdirSync(join(root, "examples/library"))
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => [`example/${name}`, read(`examples/library/${name}`)]),
  ),
  // What the pages leave to the reader's program.
  "theirs.d.ts": ["clusterFromDatabase", "hostFromDatabase"]
    .map((name) => `declare const ${name}: (...given: any[]) => any;\n`)
    .join(""),
};

/** The same from CommonJS. */
const common = { "everything.cts": entries.map((entry, at) => `import e${at} = require("${entry}");\n`).join("") };

/** Compiles as Node resolves modules, with TypeScript 6, and as bundlers do, with TypeScript 7. */
export function compileAll(folder: string): void {
  compile(join(folder, "node"), { ...modules, ...common }, "typescript", "nodenext", "nodenext");
  compile(join(folder, "bundler"), modules, "typescript-native", "esnext", "bundler");
}

function compile(
  folder: string,
  files: Readonly<Record<string, string>>,
  compiler: string,
  module: string,
  moduleResolution: string,
): void {
  mkdirSync(join(folder, "example"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const compilerOptions = { ...strictest, module, moduleResolution };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  const tsc = join(root, `node_modules/${compiler}/bin/tsc`);
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
  assert.equal(status, 0, `${moduleResolution}: ${stdout}`);
}

/**
 * Compiles each entry point by itself: what it needs of Node's types it brings, and not an entry point beside it. Only
 * our own declarations are checked: `compileAll` has checked the others.
 */
export function compileEach(folder: string): void {
  const kinds = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023 };
  const options: ts.CompilerOptions = { ...strictest, ...kinds };
  const host = ts.createCompilerHost(options);
  const parsed = new Map<string, ts.SourceFile | undefined>();
  const parse = host.getSourceFile;
  host.getSourceFile = (path, ...rest) => {
    if (!parsed.has(path)) parsed.set(path, parse(path, ...rest));
    return parsed.get(path);
  };
  const wrong = entries.flatMap((entry, at) => {
    const file = join(folder, `entry-${at}.ts`);
    writeFileSync(file, `export * from "${entry}";\n`);
    const program = ts.createProgram([file], options, host);
    const ours = program
      .getSourceFiles()
      .filter(({ fileName }) => /\/(?:@xdskit\/[^/]+|xds[^/]+)\/dist\//.test(fileName));
    assert.ok(ours.length > 0, entry);
    return ours
      .flatMap((source) => program.getSemanticDiagnostics(source))
      .map(({ messageText }) => `${entry}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
  });
  assert.deepEqual(wrong, []);
}
