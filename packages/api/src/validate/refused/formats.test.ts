import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describe as said } from "../../errors/errors.js";
import { readResources } from "../../files/resource-file.js";
import {
  action,
  extension,
  type Fields,
  host,
  http,
  listener,
  manager,
  route,
  router,
  routes,
  tcp,
} from "../../testing/refusals.js";

const read = (json: Fields) =>
  readResources({ path: "a.json", bytes: Buffer.from(JSON.stringify(json)) }).findings.map(said);
const header = (value: string) => ({ header: { key: "x-a", value } });
const logOf = (fields: Fields) =>
  listener({
    filter_chains: [{ filters: [tcp] }],
    access_log: [extension("access_loggers.file.v3.FileAccessLog", { path: "/dev/null", ...fields })],
  });

describe("format strings", () => {
  it("an unknown command is refused in headers and logs alike, and named where it may be a mistake", () => {
    assert.match(
      read(routes({ response_headers_to_add: [header("%DOWNSTREAM_REMOTE_ADDRES%")] })).join(),
      /response_headers_to_add\[0\]\.header\.value: has %DOWNSTREAM_REMOTE_ADDRES%, which is no command of Envoy 1\.40; did you mean "DOWNSTREAM_REMOTE_ADDRESS"\?/,
    );
    for (const [fields, field] of [
      [{ format: "%START_TIME(%Y)% %NOPE(a)%" }, "format"],
      [{ json_format: { a: [{ b: "%NOPE%" }] } }, 'json_format["a"][0]["b"]'],
      [
        { log_format: { text_format_source: { inline_string: "%NOPE:3%" } } },
        "log_format.text_format_source.inline_string",
      ],
      [{ log_format: { json_format: { a: "%NOPE%" } } }, 'log_format.json_format["a"]'],
    ] as const) {
      const [finding = "", ...others] = read(logOf(fields));
      assert.deepEqual(others, []);
      assert.ok(finding.includes(`typed_config.${field}: has %NOPE%, which is no command`), finding);
    }
  });

  it("an unknown command is refused in fields that are formats as a whole", () => {
    const operation = "%NOPE%";
    for (const [json, field] of [
      [action({ cluster: "a", host_rewrite: "%NOPE%" }), "host_rewrite"],
      [action({ cluster: "a", path_rewrite: "%NOPE%" }), "path_rewrite"],
      [route({ route: undefined, redirect: { path_rewrite: "%NOPE%" } }), "redirect.path_rewrite"],
      [route({ tracing: { operation } }), "tracing.operation"],
      [http({ tracing: { upstream_operation: operation } }), "tracing.upstream_operation"],
    ] as const)
      assert.ok(read(json).join().includes(`${field}: has %NOPE%, which is no command`), `${field}: ${read(json)}`);
  });

  it("headers that the filter for authorization adds are formats, but not those that a route has it add", () => {
    const added = (value: string) => ({
      http_service: {
        server_uri: { uri: "http://a", cluster: "a", timeout: "1s" },
        authorization_request: { headers_to_add: [{ key: "a", value }] },
      },
    });
    const authz = "filters.http.ext_authz.v3.ExtAuthz";
    assert.match(
      read(http({ http_filters: [extension(authz, added("%NOPE%")), router] })).join(),
      /http_service\.authorization_request\.headers_to_add\[0\]\.value: has %NOPE%, which is no command/,
    );
    const { typed_config } = extension(`${authz}PerRoute`, { check_settings: added("%NOPE%") });
    assert.deepEqual(read(host({ typed_per_filter_config: { a: typed_config } })), []);
  });

  it("the hits that a rate limit of a filter adds are formats, but not those of a route", () => {
    const rate_limits = [{ actions: [{ source_cluster: {} }], hits_addend: { format: "%NOPE%" } }];
    const local = extension("filters.http.local_ratelimit.v3.LocalRateLimit", {
      stat_prefix: "a",
      token_bucket: { max_tokens: 1, fill_interval: "1s" },
      rate_limits,
    });
    const grpc_service = { envoy_grpc: { cluster_name: "c" } };
    const rate_limit_service = { grpc_service, transport_api_version: "V3" };
    const shared = extension("filters.http.ratelimit.v3.RateLimit", { domain: "d", rate_limits, rate_limit_service });
    for (const limit of [local, shared])
      assert.match(
        read(http({ http_filters: [limit, router] })).join(),
        /rate_limits\[0\]\.hits_addend\.format: has %NOPE%, which is no command/,
      );
    assert.deepEqual(read(host({ rate_limits })), []);
  });

  it("the address of a client that a filter looks up is a format", () => {
    const geoip = extension("filters.network.geoip.v3.Geoip", {
      stat_prefix: "a",
      client_ip: "%NOPE%",
      provider: extension("geoip_providers.maxmind.v3.MaxMindConfig"),
    });
    assert.match(
      read(listener({ filter_chains: [{ filters: [geoip, tcp] }] })).join(),
      /client_ip: has %NOPE%, which is no command/,
    );
  });

  it("a command with parameters or a length that it does not take is refused, with how it is written", () => {
    for (const [value, wrong] of [
      ["%PROTOCOL(x)%", "PROTOCOL takes no parameters: it is written %PROTOCOL%"],
      ["%RESPONSE_CODE:3%", "RESPONSE_CODE takes no length: it is written %RESPONSE_CODE%"],
      ["%REQ%", "REQ needs parameters: it is written %REQ(HEADER?ALTERNATIVE):N%"],
      ["%ENVIRONMENT()%", "ENVIRONMENT needs parameters: it is written %ENVIRONMENT(NAME):N%"],
      ["%REQ(a?b?c)%", "REQ takes no such parameters: it is written %REQ(HEADER?ALTERNATIVE):N%"],
      ["%PATH(ZZ)%", "PATH takes no such parameters: it is written %PATH(WQ|NQ:ORIG|PATH|ORIG_OR_PATH):N%"],
      ["%START_TIME(%Y):3%", "START_TIME takes no length: it is written %START_TIME(FORMAT)%"],
    ] as const) {
      const expected = `header.value: has ${value}, but ${wrong}`;
      const found = read(routes({ response_headers_to_add: [header(`%PROTOCOL% ${value}`)] })).join();
      assert.ok(found.includes(expected), found);
      assert.equal(read(logOf({ json_format: { a: value } })).length, 1, value);
    }
  });

  it("the transform filter has commands of its own", () => {
    const header = { key: "x-a", value: "%REQUEST_BODY(a)%" };
    const transformation = {
      headers_mutations: [{ append: { header } }],
      body_transformation: { body_format: { json_format: { a: "%RESPONSE_BODY(a)%" } } },
    };
    const transform = { request_transformation: transformation };
    const http_filters = [extension("filters.http.transform.v3.TransformConfig", transform), router];
    assert.deepEqual(read(http({ http_filters })), []);
    header.value = "%NOPE%";
    assert.match(read(http({ http_filters })).join(), /header\.value: has %NOPE%, which is no command/);
  });

  it("the generic proxy has commands of its own, in its logs too", () => {
    const generic = (format: string) =>
      listener({
        filter_chains: [
          {
            filters: [
              extension("filters.network.generic_proxy.v3.GenericProxy", {
                stat_prefix: "a",
                route_config: { name: "a" },
                codec_config: extension("filters.network.generic_proxy.codecs.http1.v3.Http1CodecConfig"),
                filters: [extension("filters.network.generic_proxy.router.v3.Router")],
                tracing: { operation: format },
                access_log: [extension("access_loggers.file.v3.FileAccessLog", { path: "/dev/null", format })],
              }),
            ],
          },
        ],
      });
    assert.deepEqual(read(generic("%METHOD% %HOST% %PATH(a)% %PROTOCOL(a)% %REQUEST_PROPERTY(a)%")), []);
    assert.equal(read(generic("%RESPONSE_CODE(a)%")).length, 2);
  });

  it("a percent sign that begins no command is refused in headers and logs alike", () => {
    for (const json of [
      host({ request_headers_to_add: [header("100 %")] }),
      logOf({ log_format: { text_format_source: { inline_string: "100 %\n" } } }),
    ])
      assert.match(read(json).join(), /has a "%" that begins no command such as %PROTOCOL%/);
  });

  it("commands, two percent signs, and texts that are no formats are fine", () => {
    assert.deepEqual(
      read(
        host({
          request_headers_to_add: [header("%REQ(X-A?:PATH):10% 100%% %START_TIME(%Y/%m/%dT%H:%M:%S%z)% %CEL(a)%")],
          routes: [{ match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: "%NOPE%" } } }],
        }),
      ),
      [],
    );
  });

  it("extensions of the format bring commands that are not known here", () => {
    const formatters = [extension("formatter.req_without_query.v3.ReqWithoutQuery")];
    const text_format_source = { inline_string: "%REQ_WITHOUT_QUERY(:PATH)%" };
    assert.deepEqual(read(logOf({ log_format: { text_format_source, formatters } })), []);
    assert.equal(read(logOf({ log_format: { text_format_source } })).length, 1);
    const mutations = { request_mutations: [{ append: header("%REQ_WITHOUT_QUERY(:PATH)%") }] };
    const mutation = (more: Fields) =>
      listener({
        filter_chains: [
          {
            filters: [
              manager({
                http_filters: [
                  extension("filters.http.header_mutation.v3.HeaderMutation", { mutations: { ...mutations, ...more } }),
                  extension("filters.http.router.v3.Router"),
                ],
              }),
            ],
          },
        ],
      });
    assert.deepEqual(read(mutation({ formatters })), []);
    assert.equal(read(mutation({})).length, 1);
  });
});

describe("sources of configuration", () => {
  it("routes by name need a source, unless the name has one", () => {
    const rds = (fields: Fields) => {
      const { typed_config, ...named } = manager({ rds: fields });
      const { route_config: _, ...config } = typed_config as { readonly route_config?: unknown };
      return read(listener({ filter_chains: [{ filters: [{ ...named, typed_config: config }] }] }));
    };
    assert.match(rds({ route_config_name: "a" }).join(), /rds\.config_source: must be set: it says where/);
    assert.deepEqual(rds({ route_config_name: "a", config_source: { ads: {} } }), []);
    const name = "xdstp://a/envoy.config.route.v3.RouteConfiguration/b";
    assert.deepEqual(rds({ route_config_name: name }), []);
  });
});
