import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { createLog } from "@xdskit/admin/log";
import { createResource, type Resource, readResources, resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createServer, type XdsServer } from "@xdskit/server";
import { eventually } from "../../testing/command.js";
import type { FileFormat } from "./file-formats.js";
import { hasOwnFiles, inOrderOfFiles, resourceFile } from "./file-names.js";
import { startToFiles, type ToFiles } from "./to-files.js";

const url = (name: string): string => `type.googleapis.com/envoy.${name}`;
const ads = { ads: {}, resourceApiVersion: "V3" };

const cluster = (name: string, connectTimeout = "1s") => ({
  "@type": url("config.cluster.v3.Cluster"),
  name,
  type: "EDS",
  connectTimeout,
  edsClusterConfig: { edsConfig: ads },
});
const endpoints = (clusterName: string) => ({ "@type": url("config.endpoint.v3.ClusterLoadAssignment"), clusterName });
const route = (name: string, to: string) => ({
  "@type": url("config.route.v3.RouteConfiguration"),
  name,
  virtualHosts: [{ name: "all", domains: ["*"], routes: [{ match: { prefix: "" }, route: { cluster: to } }] }],
});

function resources(...texts: readonly object[]): readonly Resource[] {
  const bytes = Buffer.from(JSON.stringify({ resources: texts }));
  const { resources: read, findings } = readResources({ path: "a.json", bytes });
  assert.deepEqual(findings, []);
  return read.map(({ resource }) => resource);
}

interface Written {
  readonly directory: string;
  readonly server: XdsServer;
  readonly errors: readonly string[];
  start(lingerMs?: number, format?: FileFormat): Promise<ToFiles>;
  /** The resources in a file, as JSON. */
  read(file: string): Promise<readonly Record<string, unknown>[]>;
  names(file: string): Promise<readonly unknown[]>;
}

async function withFolder(run: (written: Written) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "xdskit-files-"));
  const server = createServer();
  const errors: string[] = [];
  const log = createLog({ err: (text) => errors.push(text) }, { level: "info", format: "pretty" });
  const started: ToFiles[] = [];
  const read: Written["read"] = async (file) =>
    JSON.parse(await readFile(join(directory, "out", file), "utf8")).resources as Record<string, unknown>[];
  try {
    await run({
      directory,
      server,
      errors,
      read,
      names: async (file) => (await read(file)).map(({ name, clusterName }) => name ?? clusterName),
      async start(lingerMs = 300, format) {
        const settings = { directory: join(directory, "out"), group: undefined, path: "/envoy/", format };
        const files = await startToFiles({ ...settings, server, groups: ["all"], registry: undefined, log, lingerMs });
        started.push(files);
        await files.finished();
        return files;
      },
    });
  } finally {
    for (const files of started) await files.close();
    await server.close({ timeoutMs: 100 });
    await rm(directory, { recursive: true, force: true });
  }
}

test("a named resource is written before the one that names it, and listeners come last", () => {
  const order = inOrderOfFiles(resourceTypes).map(({ name }) => name);
  const before = (a: string, b: string) => assert.ok(order.indexOf(a) < order.indexOf(b), `${a} before ${b}: ${order}`);
  for (const [a, b] of [
    ["secret", "cluster"],
    ["endpoint", "cluster"],
    ["cluster", "route"],
    ["extension-config", "listener"],
    ["route", "scoped-route"],
    ["scoped-route", "listener"],
  ] as const) {
    before(a, b);
  }
  assert.equal(order.length, resourceTypes.all.length);
  assert.deepEqual(
    resourceTypes.all.filter(hasOwnFiles).map(({ name }) => name),
    ["runtime", "secret", "endpoint", "extension-config", "route"],
  );
});

test("every name has a file of its own with a safe name on every file system", () => {
  const type = resourceTypes.find("endpoint")!;
  const names = [
    "a",
    ".",
    "../..",
    "a/b",
    "a%2Fb",
    "x".repeat(1_000),
    `${"x".repeat(1_000)}y`,
    "ü*'()!~",
    "xdstp://a/b?c=d",
  ];
  const files = names.map((name) => resourceFile(type, name, "json"));
  assert.equal(new Set(files).size, names.length);
  for (const file of files) assert.match(file, /^endpoint\/[A-Za-z0-9_%-][A-Za-z0-9_.%~-]{0,200}\.json$/);
});

test("each type has one file, and each resource too if clients read one resource a file", () =>
  withFolder(async ({ server, start, read, names, directory }) => {
    server.config.set(resources(cluster("a"), cluster("b"), endpoints("a"), route("r", "a")));
    await start();
    assert.deepEqual(await names("cluster.json"), ["a", "b"]);
    const [a] = await read("cluster.json");
    const edsConfig = { pathConfigSource: { path: "/envoy/endpoint/a.json" }, resourceApiVersion: "V3" };
    assert.deepEqual(a?.edsClusterConfig, { edsConfig });
    assert.deepEqual(await names("endpoint/a.json"), ["a"]);
    // A client rejects a cluster whose file is not there.
    assert.deepEqual(await names("endpoint/b.json"), []);
    assert.deepEqual(await names("route/r.json"), ["r"]);
    assert.deepEqual(await names("route.json"), ["r"]);
    assert.deepEqual(await names("listener.json"), []);
    const { versionInfo } = JSON.parse(await readFile(join(directory, "out/cluster.json"), "utf8"));
    assert.equal(versionInfo, server.snapshotOf("all")?.of(resourceTypes.find("cluster")!).version);
    const drafts = (await readdir(join(directory, "out"))).filter((name) => name.endsWith(".tmp"));
    assert.deepEqual(drafts, []);
  }));

test("listeners for gRPC's clients are in no file", () =>
  withFolder(async ({ server, errors, start, names }) => {
    const listener = (name: string, more: object) => ({ "@type": url("config.listener.v3.Listener"), name, ...more });
    const address = { socketAddress: { address: "127.0.0.1", portValue: 10_000 } };
    server.config.set(
      resources(listener("edge", { address, filterChains: [{}] }), listener("cart", { apiListener: {} })),
    );
    await start();
    assert.deepEqual(await names("listener.json"), ["edge"]);
    assert.doesNotMatch(errors.join(""), /cart/);
  }));

test("a removed resource stays until its referrers have been gone for a while", () =>
  withFolder(async ({ server, start, names }) => {
    server.config.set(resources(cluster("a"), endpoints("a"), route("r", "a")));
    const files = await start(1_000);
    server.config.set(resources(cluster("b"), endpoints("b"), route("r", "b")));
    await files.finished();
    assert.deepEqual(await names("cluster.json"), ["b", "a"]);
    assert.deepEqual(await names("endpoint/a.json"), ["a"]);
    await eventually(
      () => names("cluster.json"),
      (found) => found.join() === "b",
    );
    await eventually(
      () => names("endpoint/a.json").catch(() => "gone" as const),
      (found) => found === "gone",
    );
    assert.deepEqual(await names("endpoint/b.json"), ["b"]);
  }));

test("a later run goes on where an earlier one ended", () =>
  withFolder(async ({ server, start, names }) => {
    server.config.set(resources(cluster("a"), endpoints("a")));
    const earlier = await start();
    await earlier.close();
    server.config.set(resources(cluster("b"), endpoints("b")));
    await start(1_000);
    assert.deepEqual(await names("cluster.json"), ["b", "a"]);
    await eventually(
      () => names("cluster.json"),
      (found) => found.join() === "b",
    );
    await eventually(
      () => names("endpoint/a.json").catch(() => "gone" as const),
      (found) => found === "gone",
    );
  }));

test("somebody else's folder is left alone, and an unknown group refused", () =>
  withFolder(async ({ directory, server }) => {
    await writeFile(join(directory, "mine.txt"), "");
    const log = createLog({ err: () => {} }, { level: "silent", format: "pretty" });
    const settings = { directory, group: undefined, path: undefined, server, registry: undefined, log };
    await assert.rejects(startToFiles({ ...settings, groups: ["all"] }), /files of somebody else/);
    await assert.rejects(startToFiles({ ...settings, groups: ["a", "b"] }), /--to-files-group: a, b/);
    await assert.rejects(startToFiles({ ...settings, group: "c", groups: ["a"] }), /no group "c"/);
  }));

test("a failed write is tried again", () =>
  withFolder(async ({ directory, server, start, names, errors }) => {
    server.config.set(resources(cluster("a")));
    const files = await start();
    // A folder in the place of a file: nothing can be renamed over it, whoever one is.
    const place = join(directory, "out", "cluster.json");
    await rm(place);
    await mkdir(join(place, "in-the-way"), { recursive: true });
    server.config.set(resources(cluster("b"), cluster("a")));
    await files.finished();
    assert.match(errors.join(""), /cannot be written/);
    // It is told once, however often it is tried.
    server.config.set(resources(cluster("b"), cluster("c")));
    await files.finished();
    assert.equal(errors.length, 1);
    await rm(place, { recursive: true });
    await eventually(
      () => names("cluster.json"),
      (found) => found.join() === "b,c,a" || found.join() === "b,c",
    );
    await eventually(
      async () => errors.slice(1),
      (more) => more.length === 1 && /files are written again/.test(more.join("")),
    );
  }));

test("unknown content is in base64 in a file, is read back to the byte, and is reported", () =>
  withFolder(async ({ directory, server, errors, start }) => {
    const any = create(AnySchema, { typeUrl: "type.googleapis.com/acme.Own", value: Uint8Array.of(8, 1) });
    const made = create(ClusterSchema, {
      name: "odd",
      circuitBreakers: { thresholds: [{}] },
      typedExtensionProtocolOptions: { own: any },
    });
    const thresholds = made.circuitBreakers?.thresholds[0] ?? assert.fail();
    thresholds.$unknown = [{ no: 9_999, wireType: 0, data: Uint8Array.of(1) }];
    const plain = create(ClusterSchema, { name: "plain" });
    server.config.set([createResource(made), createResource(plain)]);
    await start();
    const bytes = await readFile(join(directory, "out", "cluster.json"));
    const { resources: read, findings } = readResources({ path: "cluster.json", bytes });
    assert.deepEqual(findings, []);
    assert.deepEqual(
      read.map(({ resource }) => resource),
      [createResource(made), createResource(plain)],
    );
    const told = errors.join("");
    assert.match(told, /cluster "odd", circuit_breakers\.thresholds\[0\]: field 9999: JSON has no form for it/);
    assert.match(told, /cluster "odd", typed_extension_protocol_options\["own"\]: the content \(acme\.Own\)/);
  }));

test("binary files have all content and name each other, and JSON files of an earlier run go", () =>
  withFolder(async ({ directory, server, errors, start }) => {
    const [assigned] = resources(endpoints("a"));
    assert.ok(assigned);
    const made = create(ClusterSchema, { name: "odd" });
    made.$unknown = [{ no: 9_999, wireType: 0, data: Uint8Array.of(1) }];
    const odd = createResource(made, { aliases: ["other"] });
    server.config.set([...resources(cluster("a")), assigned, odd]);
    await (await start()).close();
    assert.match(errors.join(""), /field 9999/);
    const before = errors.length;
    await start(300, "pb");
    assert.doesNotMatch(errors.slice(before).join(""), /field 9999/);
    const out = join(directory, "out");
    const files = await readdir(out, { recursive: true });
    assert.deepEqual(
      files.filter((name) => name.endsWith(".json")),
      [],
    );
    const read = async (path: string) => readResources({ path, bytes: await readFile(join(out, path)) });
    const { resources: clusters, version } = await read("cluster.pb");
    assert.equal(version, server.snapshotOf("all")?.of(odd.type).version);
    assert.deepEqual(clusters[1]?.resource, odd);
    assert.ok(Buffer.from(clusters[0]?.resource.body ?? []).includes("/envoy/endpoint/a.pb"));
    const { resources: own } = await read("endpoint/a.pb");
    assert.deepEqual(own[0]?.resource, assigned);
  }));
