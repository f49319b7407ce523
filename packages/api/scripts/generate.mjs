// Makes `gen/` from the table of Envoy's API in `schema/`: one typed module a proto file, and one descriptor set for
// the registry. The table has no comments: what the protos' authors say of their fields comes from the protos in a
// package of gRPC's. Nothing of it is committed. Skipped when its inputs are the same as last time.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponseSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { tsImport } from "tsx/esm/api";

const require = createRequire(import.meta.url);
const packageDir = join(dirname(fileURLToPath(import.meta.url)), "..");
const genDir = join(packageDir, "gen");
const stampFile = join(genDir, ".stamp");

const plugin = readPackage("@bufbuild/protoc-gen-es");
const protos = readPackage("@grpc/grpc-js-xds");
const stamp = stampOf();
const isCurrent = () => existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
if (!isCurrent()) await generate();

async function generate() {
  const { readTable, sinceFile } = await tsImport("../src/schema/table.ts", import.meta.url);
  const { readExtensions } = await tsImport("../src/schema/extensions.ts", import.meta.url);
  const { readSlots } = await tsImport("../src/schema/slots.ts", import.meta.url);
  const { readComments } = await tsImport("../src/schema/read-comments.ts", import.meta.url);
  const files = readTable();

  // Each run works in its own folder, and puts the result in place at the end: a run that fails, or runs beside
  // another, leaves `gen/` whole.
  const outDir = join(packageDir, ".cache", `generate-${process.pid}`);
  process.on("exit", () => rmSync(outDir, { recursive: true, force: true }));
  for (const { name, content } of modulesOf(files)) {
    mkdirSync(dirname(join(outDir, name)), { recursive: true });
    writeFileSync(join(outDir, name), content);
  }
  const set = create(FileDescriptorSetSchema, { file: [...files] });
  writeFileSync(join(outDir, "envoy.binpb"), toBinary(FileDescriptorSetSchema, set));
  copyFileSync(sinceFile, join(outDir, "since.json"));
  writeFileSync(
    join(outDir, "extensions.json"),
    JSON.stringify({ types: typesOf(readExtensions()), slots: readSlots() }),
  );
  const comments = readComments(
    ["envoy-api", "xds"].map((name) => join(protos.folder, "deps", name)),
    files,
  );
  writeFileSync(join(outDir, "comments.json"), JSON.stringify(comments));
  writeFileSync(join(outDir, ".stamp"), stamp);
  rmSync(genDir, { recursive: true, force: true });
  try {
    renameSync(outDir, genDir);
  } catch (error) {
    // Another run was faster by a moment, with the same result.
    if (!isCurrent()) throw error;
  }
  forgetBuilds();
}

/** The categories in which a message configures an extension of a plain Envoy, by its full name. */
function typesOf(extensions) {
  const found = {};
  for (const { category, types } of extensions)
    for (const type of types) found[type] = [...new Set([...(found[type] ?? []), category])];
  return found;
}

/**
 * The compiler looks at the files of a project only, and these modules are none of them: code that was compiled with
 * older ones must be compiled again.
 */
function forgetBuilds() {
  const root = join(packageDir, "../..");
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
function stampOf() {
  const hash = createHash("sha256");
  const inputs = ["schema", "schema/packages", "src/schema"].flatMap((folder) =>
    readdirSync(join(packageDir, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
      .map(({ name }) => `${folder}/${name}`),
  );
  for (const input of ["scripts/generate.mjs", ...inputs.sort()]) {
    hash.update(`${input}\n`).update(readFileSync(join(packageDir, input)));
  }
  return hash.update(`${plugin.version} ${protos.version}`).digest("hex");
}

function readPackage(name) {
  const file = require.resolve(`${name}/package.json`);
  const { version, bin } = JSON.parse(readFileSync(file, "utf8"));
  const program = typeof bin === "string" ? bin : bin?.[name.split("/").at(-1)];
  return { version, folder: dirname(file), bin: program && join(dirname(file), program) };
}
