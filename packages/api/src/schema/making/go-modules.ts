import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";

/** One version of a Go module. */
export interface GoModule {
  /** The minor version of Envoy that it belongs to, such as `1.40`. */
  readonly envoy: string;
  readonly path: string;
  readonly version: string;
  /** The checksum of its content in Go's checksum database. */
  readonly sum: string;
}

/** Envoy's own API: the main build, and the additions of the contrib build. */
export const envoyModule = "github.com/envoyproxy/go-control-plane/envoy";
export const contribModule = "github.com/envoyproxy/go-control-plane/contrib";
/** The source of the protos that Envoy imports, and of gRPC's services. */
const importedModules = [
  "cel.dev/expr",
  "github.com/cncf/xds/go",
  "github.com/envoyproxy/protoc-gen-validate",
  "github.com/prometheus/client_model",
  "go.opentelemetry.io/proto/otlp",
  "google.golang.org/genproto/googleapis/api",
  "google.golang.org/genproto/googleapis/rpc",
  "google.golang.org/grpc",
];

/** A version of a module, and its folder. */
export interface DownloadedModule extends Omit<GoModule, "envoy"> {
  readonly folder: string;
}

/** Downloads a module, unless Go has it, and lets Go verify its checksum. Throws a plain error with Go's message. */
export function download(path: string, version: string): DownloadedModule {
  const { Dir, Sum } = JSON.parse(go("mod", "download", "-json", `${path}@${version}`)) as Record<string, string>;
  return { path, version, folder: String(Dir), sum: String(Sum) };
}

/**
 * The modules of a version of Envoy's API, `v1.40.0`, and of the newest published patch of each earlier minor version;
 * contrib's if one of the same version exists, and its newest for the newest. For their imports, the versions that the
 * newest requires.
 */
export function modulesUpTo(newest: string): readonly GoModule[] {
  const published = go("list", "-m", "-versions", envoyModule).trim().split(/\s+/).slice(1);
  if (!published.includes(newest)) throw new Error(`${envoyModule} has no version ${newest}: ${published.join(", ")}`);
  const patches = published.slice(0, published.indexOf(newest) + 1);
  const newestPatches = patches.filter((each, index) => minorOf(each) !== minorOf(patches[index + 1] ?? ""));
  const modules: GoModule[] = [];
  const add = (envoy: string, path: string, version: string) => {
    const { folder: _, ...module } = download(path, version);
    modules.push({ envoy, ...module });
  };
  for (const version of newestPatches) {
    const envoy = minorOf(version);
    add(envoy, envoyModule, version);
    const contrib = version === newest ? "latest" : version;
    const found = goOr(() => undefined, "list", "-m", "-f", "{{.Version}}", `${contribModule}@${contrib}`);
    if (found !== undefined) add(envoy, contribModule, found.trim());
  }
  const required = requirementsOf(download(envoyModule, newest).folder);
  for (const path of importedModules) {
    const version = required.get(path);
    if (version === undefined) throw new Error(`${envoyModule} ${newest} does not require ${path}`);
    add(minorOf(newest), path, version);
  }
  return modules;
}

function requirementsOf(folder: string): ReadonlyMap<string, string> {
  const { Require } = JSON.parse(go("mod", "edit", "-json", `${folder}/go.mod`)) as {
    Require: readonly { readonly Path: string; readonly Version: string }[];
  };
  return new Map(Require.map(({ Path, Version }) => [Path, Version]));
}

/** `v1.40.0` → `1.40` */
function minorOf(version: string): string {
  return version.replace(/^v(\d+\.\d+).*/, "$1");
}

/** The modules as text, one per line: Envoy's version, path, version and checksum. */
export function formatModules(modules: readonly GoModule[]): string {
  return modules.map(({ envoy, path, version, sum }) => `${envoy} ${path} ${version} ${sum}\n`).join("");
}

/** Reads the output of `formatModules`. Throws a plain error for any other line. */
export function readModules(file: string | URL): readonly GoModule[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line, index) => {
    const [envoy, path, version, sum, ...rest] = line.split(" ");
    if (envoy === undefined || path === undefined || version === undefined || sum === undefined || rest.length > 0)
      throw new Error(`${file}:${index + 1}: expected ENVOY MODULE VERSION CHECKSUM`);
    return { envoy, path, version, sum };
  });
}

function go(...args: readonly string[]): string {
  return goOr(
    (reason) => {
      throw new Error(`go ${args.join(" ")}: ${reason}`);
    },
    ...args,
  );
}

function goOr<Otherwise>(otherwise: (reason: string) => Otherwise, ...args: readonly string[]): string | Otherwise {
  // Outside of any module, whose requirements would select other versions.
  const run = spawnSync("go", args, {
    cwd: tmpdir(),
    encoding: "utf8",
    env: { ...process.env, GOFLAGS: "-mod=mod", GOWORK: "off" },
  });
  if (run.error !== undefined) throw new Error("this needs Go (https://go.dev) in the PATH", { cause: run.error });
  return run.status === 0 ? run.stdout : otherwise(run.stderr.trim());
}
