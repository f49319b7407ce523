// Makes `gen/` from the protos inside @grpc/grpc-js-xds and two more packages of gRPC: one typed module a proto file, and one descriptor set for the registry.
// Nothing of it is committed. Skipped when its inputs are the same as last time.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const packageDir = join(dirname(fileURLToPath(import.meta.url)), "..");
const genDir = join(packageDir, "gen");
// Each run works in a folder of its own, and puts the result in place at the end: a run that fails, or runs beside another, leaves `gen/` whole.
const cacheDir = join(packageDir, ".cache", `generate-${process.pid}`);
const workDir = join(cacheDir, "protos");
const outDir = join(cacheDir, "gen");
const stampFile = join(genDir, ".stamp");

const packageJson = (name) => require.resolve(`${name}/package.json`);
const versionOf = (name) => JSON.parse(readFileSync(packageJson(name), "utf8")).version;
const binOf = (name, bin) => {
  const file = packageJson(name);
  const { bin: bins } = JSON.parse(readFileSync(file, "utf8"));
  return join(dirname(file), typeof bins === "string" ? bins : bins[bin]);
};

const stamp = createHash("sha256")
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .update(
    ["@grpc/grpc-js-xds", "grpc-health-check", "@grpc/reflection", "@bufbuild/buf", "@bufbuild/protoc-gen-es"]
      .map(versionOf)
      .join(),
  )
  .digest("hex");
const isCurrent = () => existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
if (isCurrent()) process.exit(0);

const source = join(dirname(packageJson("@grpc/grpc-js-xds")), "deps");
process.on("exit", () => rmSync(cacheDir, { recursive: true, force: true }));
mkdirSync(workDir, { recursive: true });
mkdirSync(outDir, { recursive: true });
for (const [from, to] of [
  ["envoy-api/envoy", "envoy"],
  ["xds/xds", "xds"],
  ["xds/udpa", "udpa"],
  ["protoc-gen-validate/validate/validate.proto", "validate/validate.proto"],
  ["googleapis/google/rpc", "google/rpc"],
  ["googleapis/google/api", "google/api"],
]) {
  cpSync(join(source, from), join(workDir, to), { recursive: true });
}

// gRPC's own services, which reflection describes beside Envoy's.
const health = join(dirname(packageJson("grpc-health-check")), "proto/health");
cpSync(health, join(workDir, "grpc/health"), { recursive: true });
const reflection = join(dirname(packageJson("@grpc/reflection")), "build/proto/grpc/reflection");
cpSync(reflection, join(workDir, "grpc/reflection"), { recursive: true });

// Today's Envoy protos use an option that this older validate.proto lacks.
const validateFile = join(workDir, "validate/validate.proto");
const validate = readFileSync(validateFile, "utf8");
if (!/ignore_empty\s*=\s*26/.test(validate)) {
  const last = "optional bool strict = 25 [default = true];";
  if (!validate.includes(last)) throw new Error(`${validateFile}: StringRules looks different from what was expected`);
  writeFileSync(validateFile, validate.replace(last, `${last}\n  optional bool ignore_empty = 26;`));
}

// v2 files import v2 files that are not in the package: v2 is derived from v3 instead. These v3 files import protos of
// OpenCensus, OpenTelemetry and Prometheus, which are not there either, and no resource needs them.
const unwanted = [
  /^envoy\/.*\/v[12](alpha\d*)?\//,
  /^google\/api\/(servicecontrol|servicemanagement)\//,
  /^envoy\/config\/trace\/v3\/(opencensus|trace)\.proto$/,
  /^envoy\/extensions\/access_loggers\/open_telemetry\/v3\/logs_service\.proto$/,
  /^envoy\/service\/(metrics\/v3\/metrics_service|trace\/v3\/trace_service)\.proto$/,
];
for (const file of readdirSync(workDir, { recursive: true })) {
  if (file.endsWith(".proto") && unwanted.some((pattern) => pattern.test(file))) rmSync(join(workDir, file));
}

writeFileSync(join(workDir, "buf.yaml"), "version: v2\n");
writeFileSync(
  join(workDir, "buf.gen.yaml"),
  JSON.stringify({
    version: "v2",
    plugins: [
      {
        local: ["node", binOf("@bufbuild/protoc-gen-es", "protoc-gen-es")],
        out: outDir,
        // One run of the plugin for all files: a run for each folder takes thirty times as long.
        strategy: "all",
        opt: ["target=js+dts", "import_extension=js"],
      },
    ],
  }),
);
function buf(...args) {
  const run = spawnSync(process.execPath, [binOf("@bufbuild/buf", "buf"), ...args], { cwd: workDir, encoding: "utf8" });
  if (run.error !== undefined) throw run.error;
  if (run.status !== 0) throw new Error(`buf ${args[0]} failed:\n${run.stdout}${run.stderr}`);
}
buf("build", "--exclude-source-info", "-o", join(outDir, "envoy.binpb"));
buf("generate");
writeFileSync(join(outDir, ".stamp"), stamp);
rmSync(genDir, { recursive: true, force: true });
try {
  renameSync(outDir, genDir);
} catch (error) {
  // Another run was faster by a moment, with the same result.
  if (!isCurrent()) throw error;
}
