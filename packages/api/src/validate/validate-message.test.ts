import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { create, type DescMessage, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { describe } from "../errors/errors.js";
import { envoyRegistry } from "../registry/registry.js";
import { validateMessage } from "./validate-message.js";

const registry = envoyRegistry();

function schemaOf(typeName: string): DescMessage {
  const schema = registry.getMessage(typeName);
  assert.ok(schema, typeName);
  return schema;
}

/** The findings of a message of Envoy's, given as JSON. */
function check(typeName: string, json: JsonValue, warnings = false): readonly string[] {
  const message = fromJson(schemaOf(typeName), json, { registry });
  return validateMessage(message, { registry, warnings }).map(({ type: _, ...finding }) => describe(finding));
}

const broken = "[XDSKIT_RULE_BROKEN]";

suite("validateMessage", () => {
  test("validation finds nothing in a message without mistakes", () => {
    assert.deepEqual(check("envoy.config.cluster.v3.Cluster", { name: "web", connectTimeout: "1s" }), []);
  });

  test("validation checks strings, durations, enums and wrapped numbers of 64 bits", () => {
    const json = { connectTimeout: "0s", lbPolicy: 77, maglevLbConfig: { tableSize: "5000012" } };
    assert.deepEqual(check("envoy.config.cluster.v3.Cluster", json), [
      `name: must not be empty (string.min_len: 1) ${broken}`,
      `connect_timeout: must be more than 0s (duration.gt: 0s) ${broken}`,
      `lb_policy: must be a value of envoy.config.cluster.v3.Cluster.LbPolicy (enum.defined_only: true) ${broken}`,
      `maglev_lb_config.table_size: must be at most 5000011 (uint64.lte: 5000011) ${broken}`,
    ]);
  });

  test("validation checks strings, lists, oneofs and a regular expression inside an Any", () => {
    const route = { match: { safeRegex: { regex: "(?=a)" } } };
    const typedConfig = {
      "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      routeConfig: { virtualHosts: [{ name: "", domains: [], routes: [route] }] },
    };
    const at = "filter_chains[0].filters[0].typed_config";
    const host = `${at}.route_config.virtual_hosts[0]`;
    assert.deepEqual(
      check("envoy.config.listener.v3.Listener", {
        address: { pipe: { path: "/a" } },
        filterChains: [{ filters: [{ name: "a", typedConfig }] }],
      }),
      [
        `${at}.stat_prefix: must not be empty (string.min_len: 1) ${broken}`,
        `${host}.name: must not be empty (string.min_len: 1) ${broken}`,
        `${host}.domains: must have at least one item (repeated.min_items: 1) ${broken}`,
        `${host}.routes[0]: one of route, redirect, direct_response, filter_action, non_forwarding_action must be set (oneof.required: true) ${broken}`,
        `${host}.routes[0].match.safe_regex.regex: is not an RE2 expression: invalid or unsupported Perl syntax: \`(?=\` (RE2 has no look-ahead and look-behind) ` +
          "[XDSKIT_REGEX_INVALID]",
      ],
    );
  });

  test("validation allows the manager of an API listener, which is gRPC's, to have no prefix of statistics", () => {
    const manager = {
      "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    };
    const rds = { routeConfigName: "r", configSource: { ads: {} } };
    const listener = (more: object) =>
      check("envoy.config.listener.v3.Listener", { name: "a", apiListener: { apiListener: { ...manager, ...more } } });
    assert.deepEqual(listener({ rds }), []);
    assert.deepEqual(listener({ rds, httpFilters: [{}] }), [
      `api_listener.api_listener.http_filters[0].name: must not be empty (string.min_len: 1) ${broken}`,
    ]);
    assert.deepEqual(listener({ rds, forwardClientCertDetails: 77 }), [
      "api_listener.api_listener.forward_client_cert_details: must be a value of " +
        `envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.ForwardClientCertDetails (enum.defined_only: true) ${broken}`,
    ]);
    assert.deepEqual(check("envoy.config.listener.v3.ApiListener", { apiListener: { ...manager, rds } }), []);
  });

  test("validation demands required messages, and those inside a oneof only if they were chosen", () => {
    assert.deepEqual(check("envoy.config.core.v3.HeaderValueOption", {}), [
      `header: is required (message.required: true) ${broken}`,
    ]);
    assert.deepEqual(check("envoy.config.core.v3.Address", { socketAddress: { address: "127.0.0.1" } }), [
      `socket_address: one of port_value, named_port must be set (oneof.required: true) ${broken}`,
    ]);
  });

  test("validation checks headers strictly or not, and ignores empty ones", () => {
    const header = (key: string, value: string) => check("envoy.config.core.v3.HeaderValue", { key, value });
    assert.deepEqual(header("x-a", "b\tc"), []);
    assert.deepEqual(header(":path", ""), []);
    assert.deepEqual(header("x a\n", "b"), [
      `key: must be the name of an HTTP header, without NUL and line breaks (string.well_known_regex: HTTP_HEADER_NAME, strict: false) ${broken}`,
    ]);
    assert.deepEqual(check("envoy.config.route.v3.HeaderMatcher", { name: "a b\r" }).length, 1);
  });

  test("validation checks lengths in bytes", () => {
    const smiles = "\u{1f600}".repeat(4096);
    assert.deepEqual(check("envoy.config.core.v3.HeaderValue", { key: smiles }), []);
    assert.deepEqual(check("envoy.config.core.v3.HeaderValue", { key: `${smiles}x` }), [
      `key: must have at most 16384 bytes (string.max_bytes: 16384) ${broken}`,
    ]);
  });

  test("validation reports an Any with malformed content, and not one of an unknown type", () => {
    const schema = schemaOf("envoy.config.core.v3.TypedExtensionConfig");
    const config = (typeUrl: string) =>
      create(schema, { name: "a", typedConfig: { typeUrl, value: Uint8Array.of(0xff) } } as never);
    const [finding] = validateMessage(config("type.googleapis.com/envoy.config.cluster.v3.Cluster"));
    assert.equal(finding?.message, "is not a serialized envoy.config.cluster.v3.Cluster");
    assert.equal(finding?.field, "typed_config");
    assert.deepEqual(validateMessage(config("type.googleapis.com/acme.Own")), []);
  });

  test("validation checks the size, keys and values of maps", () => {
    assert.deepEqual(check("envoy.config.core.v3.Metadata", { filterMetadata: { "": {} } }), [
      `filter_metadata[""]: must not be empty (string.min_len: 1) ${broken}`,
    ]);
  });

  // Verdicts of Envoy 1.40: `envoy --mode validate`.
  test("validation reports a domain that comes twice in one route configuration, compared as Envoy does", () => {
    const routes = (...hosts: readonly string[][]) => {
      const virtualHosts = hosts.map((domains, index) => ({ name: `host-${index}`, domains }));
      return check("envoy.config.route.v3.RouteConfiguration", { virtualHosts });
    };
    const twice = (field: string, domain: string, owner: string) => [
      `${field}: the domain "${domain}" belongs to the virtual host "${owner}" already [XDSKIT_CLIENTS_REFUSE]`,
    ];
    const second = "virtual_hosts[1].domains[0]";
    assert.deepEqual(routes(["x.com", "*"], ["X.com"]), twice(second, "X.com", "host-0"));
    assert.deepEqual(routes(["*"], ["*"]), twice(second, "*", "host-0"));
    assert.deepEqual(routes(["*.a.com"], ["*.A.com"]), twice(second, "*.A.com", "host-0"));
    assert.deepEqual(routes(["a.*"], ["a.*"]), twice(second, "a.*", "host-0"));
    assert.deepEqual(routes(["x", "X"]), twice("virtual_hosts[0].domains[1]", "X", "host-0"));
    assert.deepEqual(routes(["a.com", "a.com:80", "*a"], ["a*", "b.com"]), []);
    assert.deepEqual(routes(["Ä.com"], ["ä.com"]), []);
    assert.deepEqual(
      check("envoy.config.route.v3.VirtualHost", { name: "own", domains: ["*", "*"] }),
      twice("domains[1]", "*", "own"),
    );
  });

  test("validation only warns of mistakes that Envoy does not check", () => {
    const leastRequest = "envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest";
    assert.deepEqual(check(leastRequest, { choiceCount: 1 }), []);
    assert.deepEqual(check(leastRequest, { choiceCount: 1 }, true), [
      `choice_count: must be at least 2, though Envoy does not check it (uint32.gte: 2) ${broken}`,
    ]);
  });

  test("validation warns of large regular expressions if warnings are wanted", () => {
    const message = (matcher: object) =>
      fromJson(schemaOf("envoy.type.matcher.v3.RegexMatcher"), { regex: "a{1000}", ...matcher }, { registry });
    assert.deepEqual(validateMessage(message({})), []);
    const [finding] = validateMessage(message({}), { warnings: true });
    assert.deepEqual([finding?.code, finding?.severity, finding?.field], ["XDSKIT_REGEX_LARGE", "warning", "regex"]);
    assert.deepEqual(validateMessage(message({ googleRe2: { maxProgramSize: 2000 } }), { warnings: true }), []);
  });

  test("validation returns an error that comes after 100 warnings in the same message", () => {
    const route = (regex: string) => ({ match: { safeRegex: { regex } }, nonForwardingAction: {} });
    const large = Array.from({ length: 100 }, () => route("a{900}"));
    const host = (...more: object[]) => {
      const json = { name: "h", domains: ["*"], routes: [...large, ...more] };
      const message = fromJson(schemaOf("envoy.config.route.v3.VirtualHost"), json as JsonValue, { registry });
      return validateMessage(message, { registry, warnings: true });
    };
    assert.deepEqual(
      host().map(({ severity }) => severity),
      large.map(() => "warning"),
    );
    const findings = host(route("(?=a)"));
    assert.deepEqual([findings.length, findings.at(-1)?.code], [100, "XDSKIT_REGEX_INVALID"]);
    const invalid = Array.from({ length: 150 }, () => route("(?=a)"));
    assert.deepEqual(
      host(...invalid).map(({ code }) => code),
      large.map(() => "XDSKIT_REGEX_INVALID"),
    );
  });

  test("validation compiles the rules of every message of the API, and checks each empty message", () => {
    let count = 0;
    for (const schema of registry) {
      if (schema.kind !== "message" || schema.typeName.startsWith("validate.")) continue;
      for (const finding of validateMessage(create(schema), { registry })) {
        assert.equal(finding.code, "XDSKIT_RULE_BROKEN");
        assert.match(finding.rule ?? "", /^[a-z_0-9]+\.[a-z_]+: /);
        count++;
      }
    }
    assert.ok(count > 500, `${count} findings`);
  });
});
