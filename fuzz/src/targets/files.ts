import assert from "node:assert/strict";
import {
  describe,
  errorCodes,
  type Finding,
  type ResourceFile,
  readResources,
  resourceFromBody,
  writeResources,
} from "@xdskit/api";
import fc from "fast-check";
import { anyText } from "../../../packages/api/src/testing/any-text.js";
import { adoptedFiles } from "../adopted-samples.js";
import { damaged } from "../kit/edits.js";
import { assertEffort, effortOf } from "../kit/effort.js";
import type { FuzzTarget } from "../kit/target.js";
import { sampleFiles } from "../samples.js";

interface File {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const marks = [
  "{",
  "}",
  "[",
  "]",
  "<",
  ">",
  '"',
  "'",
  "'''",
  ":",
  ": ",
  ",",
  "-",
  "- ",
  "? ",
  "#",
  "|",
  ">",
  "\\",
  "%",
  "@",
  "`",
];
const breaks = ["\n", "\r\n", "\t", "  ", "\n---\n", "\n...\n", "\u2028", "\ufeff", "\0", "\u{1f600}", "\ud800"];
const anchors = ["&a ", "*a", "&a [*a]", "<<: *web\n", "<<: ", "!x ", "!!binary ", "!!set ", "*second"];
const numbers = [
  "null",
  "~",
  "-1",
  "1e999",
  "-0",
  ".inf",
  ".nan",
  "0x1f",
  "0o17",
  "18446744073709551616",
  "1".repeat(400),
  "1e-7",
  "9007199254740993",
];
const words = [
  "@type",
  "__proto__",
  "constructor",
  "resources",
  "name",
  "typed_config",
  "ttl",
  "1s500ms",
  "999999999999s",
  "true",
  '"\\uD800"',
];
const pieces = [...marks, ...breaks, ...anchors, ...numbers, ...words];

const samples = new Map([...sampleFiles(), ...adoptedFiles()]);
const edited = fc
  .constantFrom(...samples.keys())
  .chain((path) =>
    damaged([samples.get(path) ?? new Uint8Array(), ...samples.values()], pieces).map(
      (bytes): File => ({ path, bytes }),
    ),
  );

const types = [
  "envoy.config.cluster.v3.Cluster",
  "envoy.config.listener.v3.Listener",
  "envoy.config.route.v3.RouteConfiguration",
  "envoy.config.endpoint.v3.ClusterLoadAssignment",
  "envoy.service.discovery.v3.Resource",
  "envoy.extensions.filters.http.router.v3.Router",
  "google.protobuf.Any",
  "google.protobuf.Struct",
  "google.protobuf.Duration",
  "envoy.admin.v3.ClustersConfigDump",
  "envoy.config.bootstrap.v3.Bootstrap",
  "acme.Unknown",
];
const key = fc.constantFrom(
  ...[
    "@type",
    "name",
    "resources",
    "resource",
    "ttl",
    "aliases",
    "value",
    "metadata",
    "filter_metadata",
    "filterMetadata",
    "typed_config",
  ],
  ...["static_resources", "configs", "clusters", "dynamic_active_clusters", "cluster", "xds", "host_statuses"],
  ...[
    "connect_timeout",
    "virtual_hosts",
    "domains",
    "routes",
    "endpoints",
    "lb_endpoints",
    "load_balancing_weight",
    "filter_chains",
    "nothing",
  ],
);
const scalar = fc.oneof(
  ...[fc.constantFrom(...types.map((type) => `type.googleapis.com/${type}`)), anyText({ maxLength: 5 })],
  ...[
    fc.constantFrom("1s", "-1s", "", "*", "a", "1e9", "xdstp://a/b/*"),
    fc.double(),
    fc.bigInt().map(Number),
    fc.boolean(),
    fc.constant(null),
  ],
);
/** JSON that looks like resources, and is none. */
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    scalar,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 6, noNullPrototype: true }),
  ),
}));
/** YAML reads JSON, too. */
const structured = fc
  .tuple(fc.constantFrom("tree.json", "tree.yaml"), tree)
  .map(([path, value]): File => ({ path, bytes: new TextEncoder().encode(JSON.stringify(value)) }));
const random = fc
  .tuple(
    fc.constantFrom(...samples.keys()),
    fc.oneof(fc.uint8Array({ maxLength: 200 }), textOf(fc.constantFrom(...pieces))),
  )
  .map(([path, bytes]): File => ({ path, bytes }));

function textOf(piece: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> {
  return fc.array(piece, { maxLength: 40 }).map((parts) => new TextEncoder().encode(parts.join("")));
}

/**
 * Processor time that reading may take: far more than it does, and far less than work that grows with the square of a
 * file.
 */
const boundMs = ({ bytes }: File) => 1_500 + bytes.length / 20;

export const files: FuzzTarget = {
  name: "files",
  suiteRuns: 250,
  async open() {
    const property = fc.asyncProperty(
      fc.oneof({ weight: 5, arbitrary: edited }, { weight: 2, arbitrary: structured }, random),
      async (file) => {
        let read: ResourceFile | undefined;
        const ms = await effortOf(() => {
          read = readResources(file);
        });
        if (ms > boundMs(file)) await assertEffort(file.path, boundMs(file), () => readResources(file));
        assert.ok(read);
        for (const finding of read.findings) assertTold(file, finding);
        assert.ok(read.findings.length <= 100);
        for (const { resource } of read.resources) {
          // A resource equals its bytes, as the protobuf reader reads them.
          const { type, body, name, aliases, ttl } = resource;
          assert.deepEqual(resourceFromBody(type, body, { name, aliases, ttl }), resource);
        }
        assertWrittenAlike(read);
      },
    );
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: async () => {},
      close: async () => {},
      show: (input) => {
        const { path, bytes } = input as File;
        return `${path}: ${JSON.stringify(Buffer.from(bytes).toString("latin1").slice(0, 20_000))} (${bytes.length} bytes as latin1)`;
      },
    };
  },
};

/** The resources are the same after they are written in each form and read again. */
function assertWrittenAlike({ resources }: ResourceFile): void {
  if (resources.length === 0) return;
  const all = resources.map(({ resource }) => resource);
  for (const [format, path] of [
    ["json", "again.json"],
    ["yaml", "again.yaml"],
    ["text", "again.pb_text"],
    ["binary", "again.pb"],
  ] as const) {
    const written = writeResources(all, format);
    const bytes = typeof written === "string" ? new TextEncoder().encode(written) : written;
    const again = readResources({ path, bytes });
    const versions = again.resources.map(
      ({ resource }) => `${resource.type.name} ${resource.name} ${resource.version}`,
    );
    const errors = again.findings.filter(({ severity }) => severity === "error").map(describe);
    assert.deepEqual(
      { errors, versions },
      { errors: [], versions: all.map((one) => `${one.type.name} ${one.name} ${one.version}`) },
      path,
    );
  }
}

function assertTold({ path, bytes }: File, finding: Finding): void {
  const told = describe(finding);
  assert.ok(finding.code in errorCodes, told);
  assert.equal(finding.file, path);
  assert.ok(told.length > 0 && told.length < 10_000, told.slice(0, 300));
  // A binary file has no lines.
  if (path.endsWith(".pb")) return;
  const lines = Buffer.from(bytes)
    .toString()
    .split(/\r\n|\n|\r/).length;
  assert.ok((finding.line ?? 0) >= 1 && (finding.line ?? 0) <= lines && (finding.column ?? 0) >= 1, told);
}
