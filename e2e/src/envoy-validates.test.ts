import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { peer } from "./harness/basics/peers.js";
import { typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";

type Fields = Readonly<Record<string, unknown>>;

const command = fileURLToPath(new URL("../../packages/xdskit/bin/xdskit.cjs", import.meta.url));
const extensions = "envoy.extensions.";
const extension = (name: string, type: string, fields: Fields = {}) => ({
  name,
  typed_config: { "@type": typeUrl(`${extensions}${type}`), ...fields },
});
const router = extension("router", "filters.http.router.v3.Router");
const lua = (code: string) =>
  extension("lua", "filters.http.lua.v3.Lua", { default_source_code: { inline_string: code } });
const ads = { ads: {}, resource_api_version: "V3" };
const manager = (fields: Fields) => ({
  filter_chains: [
    {
      filters: [
        extension("manager", "filters.network.http_connection_manager.v3.HttpConnectionManager", {
          stat_prefix: "a",
          http_filters: [router],
          ...fields,
        }),
      ],
    },
  ],
});
const at = (port_value: number) => ({ address: { socket_address: { address: "127.0.0.1", port_value } } });
const listener = (name: string, port: number, fields: Fields): Fields => ({
  "@type": typeUrl("envoy.config.listener.v3.Listener"),
  name,
  ...at(port),
  ...fields,
});
const routes = (name: string, ...virtual_hosts: readonly Fields[]): Fields => ({
  "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
  name,
  virtual_hosts,
});
const host = (route: Fields): Fields => ({
  name: "a",
  domains: ["*"],
  routes: [{ match: { prefix: "/" }, ...route }],
});
const cluster = (name: string, fields: Fields): Fields => ({
  "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
  name,
  connect_timeout: "1s",
  ...fields,
});
const { certificate, key } = createAuthority("e2e").issue("a.example");

const well: readonly Fields[] = [
  cluster("web", { type: "EDS", eds_cluster_config: { eds_config: ads } }),
  {
    "@type": typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
    cluster_name: "web",
    endpoints: [{ lb_endpoints: [{ endpoint: at(80) }] }],
  },
  listener("rds", 8080, manager({ rds: { route_config_name: "routes", config_source: ads } })),
  // An Envoy may have this cluster in its bootstrap, and this management server.
  listener("inline", 8081, manager({ route_config: { virtual_hosts: [host({ route: { cluster: "elsewhere" } })] } })),
  routes("routes", host({ route: { cluster: "web" } })),
  {
    "@type": typeUrl("envoy.service.discovery.v3.Resource"),
    name: "routes/on-demand",
    resource: {
      "@type": typeUrl("envoy.config.route.v3.VirtualHost"),
      ...host({ route: { cluster: "web" } }),
      name: "routes/on-demand",
    },
  },
  {
    "@type": typeUrl(`${extensions}transport_sockets.tls.v3.Secret`),
    name: "certificate",
    tls_certificate: { certificate_chain: { inline_string: certificate }, private_key: { inline_string: key } },
  },
  { "@type": typeUrl("envoy.service.runtime.v3.Runtime"), name: "runtime", layer: { a: 1 } },
];

/** What xdskit takes, and Envoy does not, with what Envoy says. */
const bad: readonly (readonly [Fields, RegExp])[] = [
  [listener("script", 8082, manager({ http_filters: [lua("no lua"), router], route_config: {} })), /script load error/],
  [
    listener("log", 8083, {
      ...manager({ route_config: {} }),
      access_log: [extension("file", "access_loggers.file.v3.FileAccessLog", { path: "/nowhere/at/all" })],
    }),
    /\/nowhere\/at\/all/,
  ],
  [
    routes("scripted", {
      ...host({ route: { cluster: "web" } }),
      typed_per_filter_config: {
        lua: {
          "@type": typeUrl(`${extensions}filters.http.lua.v3.LuaPerRoute`),
          source_code: { inline_string: "no lua" },
        },
      },
    }),
    /script load error/,
  ],
  [
    {
      "@type": typeUrl(`${extensions}transport_sockets.tls.v3.Secret`),
      name: "file",
      validation_context: { trusted_ca: { filename: "/nowhere/ca.pem" } },
    },
    /\/nowhere\/ca\.pem/,
  ],
];

test("xdskit validate --envoy asks a real Envoy about each type", { timeout: 120_000 }, async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  const scene = await createScene(t);
  const validate = async (name: string, resources: readonly Fields[]) => {
    const folder = join(scene.directory, name);
    await mkdir(folder);
    for (const [index, resource] of resources.entries())
      await writeFile(join(folder, `${index}.yaml`), stringify(resource));
    const args = [command, "validate", folder, "--envoy", envoy, "--json"];
    return new Promise<{ readonly status: unknown; readonly report: Report }>((resolve) => {
      execFile(process.execPath, args, { timeout: 60_000 }, (error, out) =>
        resolve({ status: error?.code ?? 0, report: JSON.parse(out) as Report }),
      );
    });
  };

  await t.test("It takes a folder that is well, and tells what it was not asked about", async () => {
    const { status, report } = await validate("well", well);
    const errors = report.findings.filter(({ code }) => code !== "XDSKIT_DANGLING_REFERENCE");
    assert.deepEqual(errors, []);
    assert.equal(status, 0);
    assert.deepEqual(report.envoy, { version: "1.40.0", asked: 7, notAsked: { runtime: 1 } });
  });

  await t.test("Each resource that it refuses is an error at its place, with its words", async () => {
    const { status, report } = await validate("bad", [...well, ...bad.map(([resource]) => resource)]);
    assert.equal(status, 1);
    const errors = report.findings.filter(({ severity }) => severity === "error");
    const files = errors.map(({ file = "" }) => Number(/(\d+)\.yaml$/.exec(file)?.[1])).sort((a, b) => a - b);
    assert.deepEqual(
      files,
      bad.map((_, index) => well.length + index),
      JSON.stringify(errors, undefined, 1),
    );
    for (const [index, [, says]] of bad.entries()) {
      const error = errors.find(({ file = "" }) => file.endsWith(`/${well.length + index}.yaml`));
      assert.equal(error?.code, "XDSKIT_ENVOY_REFUSES");
      assert.match(error.message, says);
    }
  });
});

interface Report {
  readonly envoy: unknown;
  readonly findings: readonly {
    readonly code: string;
    readonly severity: string;
    readonly message: string;
    readonly file?: string;
  }[];
}
