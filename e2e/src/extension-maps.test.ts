import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { readResources } from "@xdskit/api";
import { categoriesOf, extensionsIn } from "../../packages/api/src/envoy-versions/extension-types.js";
import { filterConfig, perRoute } from "../../packages/api/src/envoy-versions/per-route.js";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { type Case, corpus } from "../../packages/api/src/testing/corpus/index.js";
import { startEnvoyJudge, type Verdict } from "./corpus/envoy-judge.js";
import { candidateOf } from "./corpus/judged.js";
import { someEnvoys } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";

const typed = (name: string, fields: JsonObject = {}): JsonObject => ({
  "@type": `type.googleapis.com/${name}`,
  ...fields,
});
const extension = (name: string, fields: JsonObject = {}): JsonObject => ({
  name: "a",
  typed_config: typed(`envoy.extensions.filters.${name}`, fields),
});
/** A resource that is about an extension in it. */
const resourceOf = (type: string, name: string, about: JsonObject, fields: JsonObject): Case => ({
  name,
  breaks: undefined,
  type,
  field: JSON.stringify(about),
  extensions: [],
  resource: { ...typed(type), name, ...fields },
});

/** A listener with this for a filter in a virtual host, or among the filters. */
function inRoute(config: JsonObject, name: string, isFilter = false): Case {
  const host = { name: "a", domains: ["*"] };
  const virtual_hosts = [isFilter ? host : { ...host, typed_per_filter_config: { x: config } }];
  const filters = isFilter ? [{ name: "x", typed_config: config }] : [];
  const manager = extension("network.http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: "a",
    http_filters: [...filters, extension("http.router.v3.Router")],
    route_config: { name: "a", virtual_hosts },
  });
  return listenerWith(manager, name, config);
}

/** A listener with a filter that has something in it. */
function listenerWith(filter: JsonObject, name: string, about: JsonObject): Case {
  return resourceOf("envoy.config.listener.v3.Listener", name, about, {
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    filter_chains: [{ filters: [filter] }],
  });
}

/** Messages of each type that configures an HTTP filter, as resources have them. */
function filtersIn(cases: readonly Case[]): readonly JsonObject[] {
  const found = new Map<string, Map<string, JsonObject>>();
  const visit = (json: JsonValue): void => {
    if (typeof json !== "object" || json === null) return;
    for (const value of Object.values(json)) visit(value as JsonValue);
    if (Array.isArray(json) || typeof json["@type"] !== "string") return;
    const type = json["@type"].slice(json["@type"].indexOf("/") + 1);
    if (!categoriesOf(type).some((one) => one === "envoy.filters.http" || one === perRoute)) return;
    const known = found.get(type) ?? new Map<string, JsonObject>();
    if (known.size < 4) found.set(type, known.set(JSON.stringify(json), json));
  };
  for (const { breaks, resource } of cases) if (breaks === undefined) visit(resource);
  return [...found.values()].flatMap((each) => [...each.values()]);
}

/** What xdskit says of an extension's place. */
function misplaced({ resource }: Case): string | undefined {
  const { findings } = readResources({ path: "case.json", bytes: Buffer.from(JSON.stringify(resource)) });
  return findings.find(({ message }) => /stands? (?:here|under)|needs a type/.test(message))?.message;
}

/** Whether there is anybody to ask: the cases cost some seconds. Otherwise the test is skipped. */
function hasEnvoy(t: test.TestContext): boolean {
  return someEnvoys.some((name) => peer(name, t) !== undefined);
}

/** Asks real Envoys about extensions at their places: what one takes is fine, and what `reason` says is refused. */
async function compare(t: test.TestContext, cases: readonly Case[], reason: RegExp): Promise<void> {
  const ours = cases.map(misplaced);
  const shown = (index: number) => `${cases[index]?.field}: ${ours[index]}`;
  for (const name of someEnvoys)
    await t.test(name, async (each) => {
      const envoy = peer(name, each);
      if (envoy === undefined) return;
      const judge = await startEnvoyJudge(envoy);
      each.after(() => judge.close());
      const verdicts = await judge.judge(cases.map(candidateOf));
      const where = (wrong: (verdict: Verdict, problem: string | undefined) => boolean) =>
        verdicts.flatMap((verdict, index) => (wrong(verdict, ours[index]) ? [shown(index)] : []));
      assert.deepEqual(
        where(({ is }, problem) => is === "taken" && problem !== undefined),
        [],
      );
      if (name !== "envoy") return;
      // The newest has all that older ones have.
      const isRefused = (verdict: Verdict) => verdict.is === "refused" && reason.test(verdict.reason);
      assert.ok(verdicts.filter(isRefused).length > 10);
      const missed = where((verdict, problem) => isRefused(verdict) && problem === undefined);
      // One that a client may do without is not judged.
      assert.deepEqual(
        missed.filter((text) => !text.includes('"is_optional":true')),
        [],
      );
    });
}

test("xdskit and real Envoys know what configures a filter for routes", { timeout: 300_000 }, async (t) => {
  if (!hasEnvoy(t)) return;
  const folder = await mkdtemp(join(tmpdir(), "xdskit-extension-maps-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { certificate, key } = createAuthority("maps").issue("example.org");
  const filters = filtersIn(corpus({ certificate, key, folder }));
  const all = [
    ...filters,
    ...extensionsIn()
      .filter((name) => /\.v3(?:alpha)?\.[^.]*$/.test(name) && name !== filterConfig)
      .map((name) => typed(name)),
    ...["Struct", "StringValue"].map((name) =>
      typed(`google.protobuf.${name}`, { value: name === "Struct" ? {} : "a" }),
    ),
    {},
  ];
  const structOf = ({ "@type": type_url, ...value }: JsonObject) =>
    typed("xds.type.v3.TypedStruct", { type_url: type_url ?? "", value });
  const configs = all.flatMap((config) => {
    const wrapped = (fields: JsonObject = {}) => typed(filterConfig, { config, ...fields });
    const isFilter = filters.includes(config) && Object.keys(config).length > 1;
    return [
      config,
      wrapped(),
      wrapped({ disabled: true }),
      wrapped({ is_optional: true }),
      ...(isFilter ? [structOf(config)] : []),
    ];
  });
  const amongFilters = [...filters, ...filters.map(structOf)];
  const cases = [
    ...configs.map((config, index) => inRoute(config, `per-route-${index}-`)),
    ...amongFilters.map((config, index) => inRoute(config, `filter-${index}-`, true)),
  ];
  await compare(
    t,
    cases,
    /^Didn't find a registered implementation for 'x'|^The filter x doesn't|^Unable to unpack as /,
  );
});

test("xdskit and real Envoys know which options of protocols stand under which name", {
  timeout: 300_000,
}, async (t) => {
  if (!hasEnvoy(t)) return;
  const types = extensionsIn(["envoy.upstream_options"]).map((name) => typed(name));
  const options: JsonObject = { explicit_http_config: { http2_protocol_options: {} } };
  const others = [
    typed("envoy.extensions.upstreams.http.v3.HttpProtocolOptions", options),
    typed("envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions", { idle_timeout: "1s" }),
    extension("http.router.v3.Router", { suppress_envoy_headers: true }).typed_config as JsonObject,
    typed("google.protobuf.StringValue", { value: "a" }),
    extension("network.redis_proxy.v3.RedisProtocolOptions", { auth_username: { inline_string: "a" } }).typed_config,
    extension("network.thrift_proxy.v3.ThriftProtocolOptions", { transport: "FRAMED" }).typed_config,
  ] as JsonObject[];
  const values = [
    ...types,
    ...others,
    ...others.slice(0, 3).map(({ "@type": type_url, ...value }) => {
      return typed("xds.type.v3.TypedStruct", { type_url: type_url ?? "", value });
    }),
  ];
  const names = ["http.http", "tcp.tcp"].map((name) => `envoy.upstreams.${name}_protocol_options`);
  const filters = ["redis_proxy", "thrift_proxy", "tcp_proxy"].map((name) => `envoy.filters.network.${name}`);
  const keys = [...extensionsIn(["envoy.upstream_options"]), ...names, ...filters, "envoy.redis_proxy", "a"];
  const cases = keys.flatMap((key, at) =>
    values.map((value, index) => {
      const about = { [key]: value };
      return resourceOf("envoy.config.cluster.v3.Cluster", `options-${at}-${index}-`, about, {
        typed_extension_protocol_options: about,
      });
    }),
  );
  // Other builds may have extensions with other names.
  await compare(t, cases, /^Unable to unpack as envoy\.extensions\.(?:upstreams|\S*ProtocolOptions:)/);
});

test("xdskit and real Envoys know what configures a filter of the generic proxy for routes", {
  timeout: 300_000,
}, async (t) => {
  if (!hasEnvoy(t)) return;
  const proxy = (name: string, fields?: JsonObject) => extension(`network.generic_proxy.${name}`, fields);
  const configs = [
    ...extensionsIn().map((name) => typed(name)),
    {},
    proxy("router.v3.Router", { bind_upstream_connection: true }).typed_config as JsonObject,
    typed("xds.type.v3.TypedStruct", { type_url: "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua" }),
  ].filter((config) => !`${config["@type"]}`.includes("google.protobuf."));
  const cases = configs.map((config, index) => {
    const action = proxy("action.v3.RouteAction", { cluster: "c", per_filter_config: { x: config } });
    const generic = proxy("v3.GenericProxy", {
      stat_prefix: "a",
      codec_config: proxy("codecs.http1.v3.Http1CodecConfig"),
      filters: [proxy("router.v3.Router")],
      route_config: { name: "r", virtual_hosts: [{ name: "h", hosts: ["*"], routes: { on_no_match: { action } } }] },
    });
    return listenerWith(generic, `generic-${index}-`, config);
  });
  await compare(t, cases, /^Didn't find a registered implementation for 'x'/);
});

test("xdskit and real Envoys know what stands in an action of a matcher", { timeout: 300_000 }, async (t) => {
  if (!hasEnvoy(t)) return;
  const folder = await mkdtemp(join(tmpdir(), "xdskit-extension-actions-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { certificate, key } = createAuthority("actions").issue("example.org");
  const seen = new Set<string>();
  const cases = corpus({ certificate, key, folder }).flatMap((each) => {
    if (each.breaks !== undefined) return [];
    return [...actionsIn(each.resource)].flatMap(({ place, own, replaced }) => {
      // Each kind of matcher with each kind of action once.
      const kind = `${place} ${own["@type"]}`;
      if (seen.has(kind)) return [];
      seen.add(kind);
      const wrong = [typed("envoy.extensions.filters.http.router.v3.Router"), {}, own];
      return wrong.map((config) => ({
        ...each,
        field: `${kind}: ${JSON.stringify(config)}`,
        resource: replaced(config),
      }));
    });
  });
  await compare(t, cases, /^Didn't find a registered implementation for '[^']*' with type URL: '[^']*Router'/);
});

/** The actions of matchers in a resource, with the resource that has another one instead. */
function* actionsIn(
  json: JsonValue,
  path: readonly string[] = [],
  around: (value: JsonValue) => JsonObject = (value) => value as JsonObject,
): Iterable<{
  readonly place: string;
  readonly own: JsonObject;
  readonly replaced: (config: JsonObject) => JsonObject;
}> {
  if (typeof json !== "object" || json === null) return;
  for (const [key, value] of Object.entries(json)) {
    const inside = (changed: JsonValue) =>
      around(
        Array.isArray(json)
          ? json.map((item, at) => (String(at) === key ? changed : item))
          : { ...json, [key]: changed },
      );
    if (key === "action" && typeof value === "object" && value !== null && "typed_config" in value) {
      const place = path.filter((step) => !/^\d+$/.test(step)).join(".");
      yield {
        place,
        own: value.typed_config as JsonObject,
        replaced: (typed_config) => inside({ ...value, typed_config }),
      };
    }
    yield* actionsIn(value as JsonValue, [...path, key], inside);
  }
}
