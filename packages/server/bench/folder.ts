/**
 * What a start from a folder costs: 100,000 resources in one file, in 100 files and in a file each, read, checked,
 * indexed and published by a server. Beside it, in the same run, the bare parser (`yaml`, or `JSON.parse`) over the
 * same files. It runs what `npm run build` made:
 *
 * node --expose-gc --import tsx packages/server/bench/folder.ts [resources] [yaml|json] [files…]
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFolderSource, createServer } from "@xdskit/server";
import { parse } from "yaml";

const total = Number(process.argv[2] ?? 100_000);
const form = process.argv[3] ?? "yaml";
const counts = process.argv.length > 4 ? process.argv.slice(4).map(Number) : [1, 100, total];
const rounds = 2;

const url = (name: string) => `type.googleapis.com/envoy.config.${name}`;

/** Every other one a cluster with its load assignment behind it, as people write them. */
function resource(index: number): object {
  const name = `cluster-${index >> 1}`;
  if (index % 2 === 0) {
    return {
      "@type": url("cluster.v3.Cluster"),
      name,
      type: "EDS",
      connect_timeout: "1s",
      lb_policy: "LEAST_REQUEST",
      eds_cluster_config: { eds_config: { ads: {}, resource_api_version: "V3" } },
    };
  }
  const endpoint = (host: number) => ({
    endpoint: { address: { socket_address: { address: `10.0.${(index >> 8) & 255}.${host}`, port_value: 8080 } } },
    load_balancing_weight: 1,
  });
  return {
    "@type": url("endpoint.v3.ClusterLoadAssignment"),
    cluster_name: name,
    endpoints: [{ locality: { region: "eu", zone: "eu-1" }, lb_endpoints: [endpoint(1), endpoint(2)] }],
  };
}

/** In blocks, as people write it: a parser of YAML is faster at flow style. */
function yaml(value: unknown, indent = ""): string {
  if (Array.isArray(value)) {
    return value.map((item) => `\n${indent}- ${yaml(item, `${indent}  `).trimStart()}`).join("");
  }
  if (typeof value !== "object" || value === null) return ` ${JSON.stringify(value)}`;
  const entries = Object.entries(value);
  if (entries.length === 0) return " {}";
  return entries
    .map(([key, item]) => `\n${indent}${key.startsWith("@") ? `"${key}"` : key}:${yaml(item, `${indent}  `)}`)
    .join("");
}

function write(directory: string, files: number): void {
  mkdirSync(directory);
  const each = Math.ceil(total / files);
  for (let file = 0; file < files; file += 1) {
    const resources = Array.from({ length: Math.min(each, total - file * each) }, (_, at) =>
      resource(file * each + at),
    );
    const text = form === "json" ? JSON.stringify(resources, undefined, 1) : yaml(resources);
    writeFileSync(join(directory, `${file}.${form}`), text);
  }
}

/** CPU and wall-clock time in milliseconds. */
async function timed(work: () => Promise<void> | void): Promise<{ readonly cpu: number; readonly wall: number }> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  const start = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1000, wall: performance.now() - start };
}

function parseAll(directory: string): void {
  for (const name of readdirSync(directory)) {
    const text = readFileSync(join(directory, name), "utf8");
    const value: unknown = form === "json" ? JSON.parse(text) : parse(text, { maxAliasCount: -1 });
    if (!Array.isArray(value)) throw new Error("not a list");
  }
}

async function serve(directory: string): Promise<void> {
  const server = createServer();
  try {
    await server.addSource(createFolderSource({ directory, pollMs: 0, limits: { files: total } }));
    const sizes = server.snapshotOf("all")?.sets.values() ?? [];
    const held = Array.from(sizes).reduce((sum, { size }) => sum + size, 0);
    if (held !== total) throw new Error(`${held} of ${total} are there`);
  } finally {
    await server.close();
  }
}

const home = mkdtempSync(join(tmpdir(), "xdskit-bench-"));
try {
  console.log(`${total} resources as ${form}; milliseconds of wall clock (CPU), of each the smaller of ${rounds}`);
  for (const files of counts) {
    const directory = join(home, String(files));
    write(directory, files);
    const parser: Awaited<ReturnType<typeof timed>>[] = [];
    const server: typeof parser = [];
    for (let round = 0; round < rounds; round += 1) {
      parser.push(await timed(() => parseAll(directory)));
      server.push(await timed(() => serve(directory)));
    }
    const least = (all: typeof parser, what: "wall" | "cpu") => Math.min(...all.map((one) => one[what]));
    const shown = (all: typeof parser) => `${least(all, "wall").toFixed(0)} (${least(all, "cpu").toFixed(0)})`;
    const ratio = (what: "wall" | "cpu") => (least(server, what) / least(parser, what)).toFixed(2);
    console.log(
      `${files} files: parser alone ${shown(parser)}, server ${shown(server)}: ${ratio("wall")} (${ratio("cpu")}) times`,
    );
  }
} finally {
  rmSync(home, { recursive: true });
}
