// Makes a package's `gen/`: a typed module for each proto file of a table of descriptors.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { CodeGeneratorRequestSchema, CodeGeneratorResponseSchema } from "@bufbuild/protobuf/wkt";

const require = createRequire(import.meta.url);
const scripts = dirname(fileURLToPath(import.meta.url));
const root = join(scripts, "../../..");
const plugin = readPackage("@bufbuild/protoc-gen-es");

/**
 * Makes `gen/` in a package, unless its inputs are the same as last time: the folders `inputs` of the package, this
 * one, and whatever else `versions` stands for. `make` resolves to the files whose modules it has, every file after its
 * imports, and to the contents of more files by their names.
 */
export async function typedModules({ packageDir, inputs, versions = "", make }) {
  const genDir = join(packageDir, "gen");
  const stampFile = join(genDir, ".stamp");
  const stamp = stampOf([scripts, ...inputs.map((folder) => join(packageDir, folder))], versions);
  const isCurrent = () => existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
  if (isCurrent()) return;
  const { files, more = {} } = await make();

  // Each run works in its own folder, and puts the result in place at the end: a run that fails, or runs beside
  // another, leaves `gen/` whole.
  const outDir = join(packageDir, ".cache", `generate-${process.pid}`);
  process.on("exit", () => rmSync(outDir, { recursive: true, force: true }));
  const modules = modulesOf(files).map(({ name, content }) => [name, content]);
  for (const [name, content] of [...modules, ...Object.entries({ ...more, ".stamp": stamp })]) {
    mkdirSync(dirname(join(outDir, name)), { recursive: true });
    writeFileSync(join(outDir, name), content);
  }
  rmSync(genDir, { recursive: true, force: true });
  try {
    renameSync(outDir, genDir);
  } catch (error) {
    // Another run was faster by a moment, with the same result.
    if (!isCurrent()) throw error;
  }
  forgetBuilds();
}

/**
 * The compiler looks at the files of a project only, and these modules are none of them: code that was compiled with
 * older ones must be compiled again.
 */
function forgetBuilds() {
  for (const folder of [
    ...readdirSync(join(root, "packages")).map((name) => `packages/${name}`),
    "e2e",
    "fuzz",
    "bench",
  ])
    rmSync(join(root, folder, "tsconfig.tsbuildinfo"), { force: true });
}

/**
 * The modules of all files but protobuf's own, which the runtime has. Speaks with the plugin as `protoc` does: a
 * request in, a response out.
 */
function modulesOf(files) {
  const names = files.map(({ name }) => name).filter((name) => !name.startsWith("google/protobuf/"));
  const request = create(CodeGeneratorRequestSchema, {
    fileToGenerate: names,
    parameter: "target=js+dts,import_extension=js",
    protoFile: [...files],
  });
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [plugin.bin], {
    input: toBinary(CodeGeneratorRequestSchema, request),
    maxBuffer: 2 ** 30,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`protoc-gen-es failed:\n${stderr}`);
  const response = fromBinary(CodeGeneratorResponseSchema, stdout);
  if (response.error !== "") throw new Error(`protoc-gen-es: ${response.error}`);
  return response.file;
}

/** A hash of all inputs of the generated code. */
function stampOf(folders, versions) {
  const hash = createHash("sha256");
  for (const folder of folders)
    for (const { name } of readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
      .sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = join(folder, name);
      hash.update(`${relative(root, file)}\n`).update(readFileSync(file));
    }
  return hash.update(`${plugin.version} ${versions}`).digest("hex");
}

/** A package's version, folder, and the program that it is named for. */
export function readPackage(name) {
  const file = require.resolve(`${name}/package.json`);
  const { version, bin } = JSON.parse(readFileSync(file, "utf8"));
  const program = typeof bin === "string" ? bin : bin?.[name.split("/").at(-1)];
  return { version, folder: dirname(file), bin: program && join(dirname(file), program) };
}
