import assert from "node:assert/strict";
import { describe, errorCodes, XdskitError } from "@xdskit/api";
import { type BootstrapOptions, createClient } from "@xdskit/client";
import fc from "fast-check";
import { readBootstrap } from "../../../packages/client/src/bootstrap/bootstrap.js";
import { damaged } from "../kit/edits.js";
import { assertEffort, effortOf } from "../kit/effort.js";
import type { FuzzTarget } from "../kit/target.js";

const tls = {
  certificate_file: "/c",
  private_key_file: "/k",
  ca_certificate_file: "/ca",
  refresh_interval: "600s",
};
const grpc = {
  xds_servers: [
    {
      server_uri: "dns:///a:1",
      channel_creds: [{ type: "google_default" }, { type: "tls", config: tls }],
      call_creds: [{ type: "jwt_token_file", config: { jwt_token_file: "/t" } }],
      server_features: ["xds_v3", "ignore_resource_deletion"],
    },
  ],
  authorities: {
    a: { client_listener_resource_name_template: "xdstp://a/envoy.config.listener.v3.Listener/%s" },
    b: { xds_servers: [{ server_uri: "b", channel_creds: [{ type: "insecure" }] }] },
  },
  node: { id: "n", cluster: "c", locality: { region: "r", sub_zone: "s" }, metadata: { x: [1, null, { y: true }] } },
  certificate_providers: { d: { plugin_name: "file_watcher", config: tls } },
  client_default_listener_resource_name_template: "xdstp://a/%s",
  server_listener_resource_name_template: "s/%s",
};
const envoy = `node: { id: n, cluster: c, metadata: { x: 1 }, locality: { zone: z } }
dynamic_resources:
  ads_config:
    api_type: DELTA_GRPC
    set_node_on_first_message_only: true
    transport_api_version: V3
    grpc_services:
    - { envoy_grpc: { cluster_name: xds }, initial_metadata: [{ key: k, value: v }] }
    - google_grpc:
        target_uri: "b:1"
        stat_prefix: b
        channel_credentials: { ssl_credentials: { root_certs: { filename: /ca } } }
        call_credentials: [{ access_token: t }]
        channel_args: { args: { grpc.ssl_target_name_override: { string_value: n } } }
  lds_config: { ads: {}, initial_fetch_timeout: 5s, resource_api_version: V3 }
  cds_config: { ads: {} }
config_sources: [{ authorities: [{ name: a }], path_config_source: { path: /x, watched_directory: { path: / } } }]
static_resources:
  clusters:
  - name: xds
    type: STRICT_DNS
    load_assignment: { cluster_name: xds, endpoints: [{ lb_endpoints: [
      { endpoint: { address: { socket_address: { address: "::1", port_value: 1 } } } },
      { endpoint: { address: { pipe: { path: /p } } } }] }] }
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        sni: n
        common_tls_context:
          tls_certificates: [{ certificate_chain: { filename: /c }, private_key: { filename: /k } }]
          validation_context: { trusted_ca: { filename: /ca }, match_typed_subject_alt_names: [{ san_type: DNS, matcher: { exact: n } }] }
`;
const rest = `dynamic_resources:
  lds_config: &rest { api_config_source: { api_type: REST, cluster_names: [xds], refresh_delay: 1s, request_timeout: 2s } }
  cds_config: *rest
static_resources:
  clusters: [{ name: xds, load_assignment: { endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: a, port_value: 1 } } } }] }] } }]
`;

const encode = (text: string) => new TextEncoder().encode(text);
const samples = [JSON.stringify(grpc, undefined, 1), envoy, rest].map(encode);
const marks = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ": ",
  ",",
  "- ",
  '"',
  "\n",
  "\n  ",
  "&a ",
  "*ads",
  "<<: ",
  "!x ",
  "\0",
  "\u{1f600}",
];
const values = [
  "null",
  "-1",
  "1e99",
  "{}",
  "[]",
  '""',
  "true",
  "GRPC",
  "REST",
  "V2",
  "insecure",
  "tls",
  "0s",
  "99999999999s",
  "%s",
  "xdstp://",
];
const keys = [
  "__proto__",
  "constructor",
  "xds_servers",
  "authorities",
  "adsConfig",
  "ads: {}",
  "path: /x",
  "envoy_grpc",
  "type_url",
  "@type",
];
const pieces = [...marks, ...values, ...keys];

const key = fc.constantFrom(
  ...[
    "xds_servers",
    "server_uri",
    "channel_creds",
    "type",
    "config",
    "node",
    "id",
    "metadata",
    "authorities",
    "__proto__",
  ],
  ...["dynamic_resources", "ads_config", "cds_config", "api_config_source", "api_type", "grpc_services", "envoy_grpc"],
  ...["cluster_name", "static_resources", "clusters", "name", "load_assignment", "path_config_source", "path", "x"],
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 7, withCrossShrink: true },
    fc.oneof(fc.constantFrom(...values, "a", "xds"), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 6, noNullPrototype: true }),
  ),
}));
const bootstrap = fc.oneof(
  { weight: 5, arbitrary: damaged(samples, pieces) },
  { weight: 2, arbitrary: tree.map((value) => encode(JSON.stringify(value))) },
  fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => encode(parts.join(""))),
);

export const bootstraps: FuzzTarget = {
  name: "bootstraps",
  suiteRuns: 150,
  async open() {
    // The input that is damaged must be good.
    for (const sample of samples) readBootstrap(sample, "b.yaml");
    const input = fc.record({ bytes: bootstrap, file: fc.constantFrom("b.json", "b.yaml") });
    const property = fc.asyncProperty(input, async ({ bytes, file }) => {
      const bound = 1_000 + bytes.length / 20;
      let options: BootstrapOptions | undefined;
      const read = () => {
        options = refused(file, bytes, () => readBootstrap(bytes, file));
      };
      if ((await effortOf(read)) > bound) await assertEffort(file, bound, read);
      if (options === undefined) return;
      const { grpc: names } = options;
      for (const target of ["xds:///a", "xds://a/b?c#%", "xds:a", "", "xds://__proto__/a"]) {
        refused(file, bytes, () => names?.listenerOf(target));
      }
      // The client connects to nothing before something is watched.
      const good = options;
      await refused(undefined, bytes, () => createClient(good))?.close();
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: async () => {},
      close: async () => {},
      show: (shown) => {
        const { bytes, file } = shown as { readonly bytes: Uint8Array; readonly file: string };
        return `${file}: ${JSON.stringify(Buffer.from(bytes).toString("latin1").slice(0, 20_000))}`;
      },
    };
  },
};

/** The result of a function; undefined if it refuses, which it must do with findings that say where. */
function refused<Value>(file: string | undefined, bytes: Uint8Array, call: () => Value): Value | undefined {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    const lines = Buffer.from(bytes).toString().split("\n").length;
    for (const finding of error.findings) {
      const told = describe(finding);
      assert.ok(finding.code in errorCodes && told.length < 10_000, told.slice(0, 300));
      if (file === undefined || finding.file === undefined) continue;
      assert.equal(finding.file, file);
      assert.ok((finding.line ?? 0) >= 1 && (finding.line ?? 0) <= lines && (finding.column ?? 0) >= 1, told);
    }
    return undefined;
  }
}
