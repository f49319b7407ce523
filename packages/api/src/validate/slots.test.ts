import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { missingExtensions } from "../envoy-versions/newer-parts.js";
import { describe as said } from "../errors/errors.js";
import { formatFieldPath } from "../errors/field-path.js";
import { readResources } from "../files/resource-file.js";
import { envoyRegistry } from "../registry/registry.js";
import { corpus } from "../testing/corpus/index.js";

const google = (name: string) => `type.googleapis.com/${name}`;
const http = "envoy.extensions.filters.http";
const network = "envoy.extensions.filters.network";
const sockets = "envoy.extensions.transport_sockets";

const typed = (type: string, fields: JsonObject = {}): JsonObject => ({ "@type": google(type), ...fields });
const named = (type: string, fields: JsonObject = {}): JsonObject => ({ name: "a", typed_config: typed(type, fields) });

function read(json: JsonObject) {
  const { resources, findings } = readResources({ path: "a.json", bytes: Buffer.from(JSON.stringify(json)) });
  const missing = resources.flatMap(({ resource: { type, body } }) =>
    missingExtensions(type.schema ?? assert.fail(), body, envoyRegistry()).map(
      (each) => `${formatFieldPath(each.steps)}: ${each.type}${each.isContrib ? " of contrib" : ""}`,
    ),
  );
  return { findings: findings.map(said), missing };
}

const listener = (more: JsonObject): JsonObject => ({
  ...typed("envoy.config.listener.v3.Listener"),
  name: "l",
  address: { socket_address: { address: "127.0.0.1", port_value: 80 } },
  ...more,
});
const chain = (filter: JsonObject, more: JsonObject = {}) =>
  listener({ filter_chains: [{ filters: [filter], ...more }] });
const manager = (...filters: readonly JsonObject[]): JsonObject =>
  named(`${network}.http_connection_manager.v3.HttpConnectionManager`, {
    stat_prefix: "a",
    route_config: {},
    http_filters: [...filters, named(`${http}.router.v3.Router`)],
  });
const proxy = named(`${network}.tcp_proxy.v3.TcpProxy`, { stat_prefix: "a", cluster: "c" });

describe("an extension where it stands", () => {
  it("an extension of the corpus, which Envoy takes, is neither at a wrong place nor missing", () => {
    const each = Number(process.env.EACH ?? 4);
    const wrong = corpus()
      .filter(({ breaks }, index) => breaks === undefined && index % each === 0)
      .flatMap(({ name, resource }) => {
        const { findings, missing } = read(resource);
        const misplaced = findings.filter((text) => /stands here|needs a type/.test(text));
        return [...misplaced, ...missing].map((text) => `${name}: ${text}`);
      });
    assert.deepEqual(wrong, []);
  });

  it("an extension of another category than its place's is refused", () => {
    assert.match(
      read(chain(named(`${http}.cors.v3.Cors`))).findings.join(),
      /filters\[0\]\.typed_config: envoy\.extensions\.filters\.http\.cors\.v3\.Cors is an extension of envoy\.filters\.http.*: one of envoy\.filters\.network stands here/,
    );
    assert.match(
      read(chain(proxy, { transport_socket: named(`${sockets}.tls.v3.UpstreamTlsContext`) })).findings.join(),
      /transport_socket\.typed_config: .*UpstreamTlsContext is an extension of envoy\.transport_sockets\.upstream/,
    );
    assert.match(read(chain(manager(proxy))).findings.join(), /http_filters\[0\]\.typed_config: .*TcpProxy/);
    const log = { access_log: [named(`${http}.cors.v3.Cors`)] };
    assert.match(read(listener({ ...chain(proxy), ...log })).findings.join(), /access_log\[0\]\.typed_config/);
    const struct = typed("xds.type.v3.TypedStruct", { type_url: google(`${http}.cors.v3.Cors`) });
    assert.match(
      read(chain({ name: "a", typed_config: struct })).findings.join(),
      /filters\[0\]\.typed_config: .*Cors/,
    );
    const resource = typed("envoy.config.core.v3.TypedExtensionConfig", named(`${sockets}.raw_buffer.v3.RawBuffer`));
    assert.match(read(resource).findings.join(), /typed_config: .*RawBuffer is an extension of/);
  });

  it("an extension without a type is refused", () => {
    assert.match(
      read(chain({ name: "a", typed_config: {} })).findings.join(),
      /filters\[0\]\.typed_config: needs a type: an extension of envoy\.filters\.network stands here/,
    );
    const resource = { ...typed("envoy.config.core.v3.TypedExtensionConfig"), name: "a", typed_config: {} };
    assert.match(read(resource).findings.join(), /needs a type/);
  });

  it("an extension that a client may do without is not judged, nor one that only gRPC's clients read", () => {
    const tcp = named(`${network}.tcp_proxy.v3.TcpProxy`, { cluster: "c", stat_prefix: "t" });
    for (const other of [named(`${network}.sni_cluster.v3.SniCluster`), tcp])
      assert.deepEqual(read(chain(manager({ ...other, is_optional: true }))).findings, []);
    const api = listener({ api_listener: { api_listener: manager(proxy).typed_config ?? {} } });
    assert.deepEqual(read(api).findings, []);
  });

  it("a message of protobuf's own is no extension, but may be the action of a matcher", () => {
    const messages = [
      typed("google.protobuf.Struct", { value: {} }),
      typed("google.protobuf.StringValue", { value: "a" }),
      typed("google.protobuf.Empty"),
    ];
    for (const typed_config of messages) {
      assert.match(
        read(chain({ name: "a", typed_config })).findings.join(),
        /is no extension: one of envoy\.filters\.netw/,
      );
      const action = { name: "a", typed_config };
      assert.deepEqual(
        read(listener({ ...chain(proxy, { name: "c" }), filter_chain_matcher: { on_no_match: { action } } })).findings,
        [],
      );
    }
  });

  it("only what configures a filter for routes stands in a route, a virtual host, a weight or a FilterConfig", () => {
    const config = (json: JsonObject): JsonObject => ({ typed_per_filter_config: { x: json } });
    const inHost = (more: JsonObject, route: JsonObject = { redirect: {} }) => ({
      ...typed("envoy.config.route.v3.RouteConfiguration"),
      name: "r",
      virtual_hosts: [{ name: "h", domains: ["*"], routes: [{ match: { prefix: "/" }, ...route }], ...more }],
    });
    const routed = (json: JsonObject) => read(inHost(config(json)));
    const filter = (json: JsonObject, more: JsonObject = {}) =>
      typed("envoy.config.route.v3.FilterConfig", { config: json, ...more });
    const buffer = typed(`${http}.buffer.v3.Buffer`, { max_request_bytes: 1 });
    const perRoute = typed(`${http}.buffer.v3.BufferPerRoute`, { disabled: true });
    const router = typed(`${http}.router.v3.Router`);
    const log = typed("envoy.extensions.access_loggers.stream.v3.StdoutAccessLog");
    const text = typed("google.protobuf.StringValue", { value: "a" });
    for (const wrong of [buffer, router, log, text])
      for (const json of [wrong, filter(wrong)])
        assert.match(routed(json).findings.join(), /: one of envoy\.filters\.http\.per_route stands here/);
    const clusters = [{ name: "c", weight: 1, ...config(router) }];
    assert.match(
      read(inHost({}, { route: { weighted_clusters: { clusters } } })).findings.join(),
      /clusters\[0\]\.typed_per_filter_config\["x"\]: envoy\.extensions\.filters\.http\.router\.v3\.Router is an ext/,
    );
    const own = typed("xds.type.v3.TypedStruct", { type_url: google("com.example.Own"), value: {} });
    const lua = typed(`${http}.lua.v3.Lua`);
    for (const right of [perRoute, filter(perRoute), lua, filter(router, { disabled: true })])
      assert.deepEqual(routed(right), { findings: [], missing: [] });
    assert.deepEqual(routed(filter(log, { is_optional: true })), { findings: [], missing: [] });
    for (const unknown of [own, filter({})]) assert.deepEqual(routed(unknown).findings, []);
  });

  it("what configures a filter for routes is no filter, but where Envoy reads it as the filter's own message", () => {
    const perRoute = { disabled: true };
    const filters = (json: JsonObject) => read(chain(manager(json))).findings.join();
    assert.match(
      filters(named(`${http}.buffer.v3.BufferPerRoute`, perRoute)),
      /BufferPerRoute is an extension of envoy\.filters\.http\.per_route: one of envoy\.filters\.http stands here/,
    );
    assert.match(
      filters(named("envoy.config.route.v3.FilterConfig", perRoute)),
      /FilterConfig is an extension of envoy\.filters\.http\.per_route: one of envoy\.filters\.http stands here/,
    );
    const resource = typed("envoy.config.core.v3.TypedExtensionConfig", named(`${http}.lua.v3.LuaPerRoute`, perRoute));
    assert.match(read(resource).findings.join(), /LuaPerRoute is an extension of/);
    const type_url = google(`${http}.buffer.v3.BufferPerRoute`);
    for (const loose of [
      typed("xds.type.v3.TypedStruct", { type_url, value: perRoute }),
      typed(`${http}.cors.v3.CorsPolicy`),
    ])
      assert.deepEqual(filters({ name: "a", typed_config: loose }), "");
  });

  it("an action of a matcher is no filter, and options of a protocol stand under their own name", () => {
    const on = (action: JsonObject) => ({ matcher: { on_no_match: { action: { name: "a", typed_config: action } } } });
    const skip = typed("envoy.extensions.filters.common.matcher.action.v3.SkipFilter");
    const matching = (action: JsonObject) =>
      named("envoy.extensions.common.matching.v3.ExtensionWithMatcher", {
        xds_matcher: on(action).matcher,
        extension_config: named(`${http}.header_mutation.v3.HeaderMutation`),
      });
    assert.deepEqual(read(chain(manager(matching(skip)))), { findings: [], missing: [] });
    assert.match(
      read(chain(manager(matching(typed(`${http}.router.v3.Router`))))).findings.join(),
      /on_no_match\.action\.typed_config: .*Router is an extension of .*: one of envoy\.matching\.action or /,
    );
    const upstreams = "envoy.extensions.upstreams";
    const options = typed(`${upstreams}.http.v3.HttpProtocolOptions`, {
      explicit_http_config: { http2_protocol_options: {} },
    });
    const cluster = (typed_extension_protocol_options: JsonObject) =>
      read({ ...typed("envoy.config.cluster.v3.Cluster"), name: "c", typed_extension_protocol_options }).findings;
    assert.deepEqual(cluster({ [`${upstreams}.http.v3.HttpProtocolOptions`]: options }), []);
    assert.deepEqual(cluster({ "envoy.upstreams.http.http_protocol_options": options }), []);
    assert.match(
      cluster({ nope: options }).join(),
      /\["nope"\]: .*HttpProtocolOptions stands under the name envoy\.ext/,
    );
    const redis = typed(`${network}.redis_proxy.v3.RedisProtocolOptions`, { auth_username: { inline_string: "a" } });
    const thrift = typed(`${network}.thrift_proxy.v3.ThriftProtocolOptions`, { transport: "FRAMED" });
    assert.deepEqual(cluster({ "envoy.filters.network.redis_proxy": redis, "envoy.redis_proxy": redis }), []);
    assert.deepEqual(cluster({ "envoy.filters.network.thrift_proxy": thrift }), []);
    assert.match(cluster({ "envoy.filters.network.redis_proxy": thrift }).join(), /ThriftProtocolOptions is no /);
    assert.match(cluster({ [`${redis["@type"]}`.slice(20)]: redis }).join(), /the name envoy\.filters\.network\.redis/);
    assert.match(
      cluster({ [`${upstreams}.tcp.v3.TcpProtocolOptions`]: options }).join(),
      /HttpProtocolOptions is no envoy\.extensions\.upstreams\.tcp\.v3\.TcpProtocolOptions, which stands here/,
    );
  });

  it("only a filter of the generic proxy stands in the configuration of filters for its routes", () => {
    const proxied = (json: JsonObject) => {
      const action = typed(`${network}.generic_proxy.action.v3.RouteAction`, {
        cluster: "c",
        per_filter_config: { x: json },
      });
      const routes = { on_no_match: { action: { name: "a", typed_config: action } } };
      return read(
        chain(
          named(`${network}.generic_proxy.v3.GenericProxy`, {
            stat_prefix: "a",
            codec_config: named(`${network}.generic_proxy.codecs.http1.v3.Http1CodecConfig`),
            filters: [named(`${network}.generic_proxy.router.v3.Router`)],
            route_config: { name: "r", virtual_hosts: [{ name: "h", hosts: ["*"], routes }] },
          }),
        ),
      );
    };
    assert.deepEqual(proxied(typed(`${network}.generic_proxy.router.v3.Router`)), { findings: [], missing: [] });
    assert.match(
      proxied(typed(`${http}.buffer.v3.BufferPerRoute`, { disabled: true })).findings.join(),
      /per_filter_config\["x"\]: .*BufferPerRoute is an .*: one of envoy\.generic_proxy\.filters stands here/,
    );
    assert.match(proxied({}).findings.join(), /needs a type/);
  });

  it("an extension is missing only where an Envoy lists the extensions of that category", () => {
    const action = { action: named("envoy.config.rbac.v3.Action", { name: "deny", action: "DENY" }) };
    const rbac = named(`${http}.rbac.v3.RBAC`, { matcher: { on_no_match: action } });
    assert.deepEqual(read(chain(manager(rbac))), { findings: [], missing: [] });
    const dynamo = named(`${http}.dynamo.v3.Dynamo`);
    assert.deepEqual(read(chain(manager(dynamo))).missing, [
      `filter_chains[0].filters[0].typed_config.http_filters[0].typed_config: ${http}.dynamo.v3.Dynamo of contrib`,
    ]);
  });
});
