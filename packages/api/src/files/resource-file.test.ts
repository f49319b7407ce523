import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe } from "../errors/errors.js";
import { createRegistry } from "../registry/registry.js";
import { readResources } from "./resource-file.js";

function readFile(path: string, text: string | Uint8Array) {
  return readResources({ path, bytes: typeof text === "string" ? new TextEncoder().encode(text) : text });
}

/** The result of a file, on lines: resources, then findings. */
function read(path: string, text: string | Uint8Array): readonly string[] {
  const { resources, findings } = readFile(path, text);
  return [
    ...resources.map(({ resource, where }) => `${where.line}: ${resource.type.name} ${resource.name}`),
    ...findings.map(describe),
  ];
}

const cluster = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

const cla = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const wrapper = "type.googleapis.com/envoy.service.discovery.v3.Resource";

suite("a resource file", () => {
  test("a resource file may hold one resource, with both spellings of fields", () => {
    assert.deepEqual(read("a.yaml", `# comment\n"@type": ${cluster}\nname: web\nconnect_timeout: 1s\n`), [
      "2: cluster web",
    ]);
    assert.deepEqual(read("a.json", `{"@type": "${cluster}", "name": "web", "connectTimeout": "1s"}`), [
      "1: cluster web",
    ]);
    const { resources: snake } = readFile("a.yaml", `"@type": ${cluster}\nname: web\nlb_policy: RANDOM`);
    const { resources: camel } = readFile("a.json", `{"name": "web", "lbPolicy": "RANDOM", "@type": "${cluster}"}`);
    assert.equal(snake[0]?.resource.version, camel[0]?.resource.version);
  });
  test("a resource file may hold a list", () => {
    const items = ["a", "b"].map((name) => `{"@type": "${cluster}", "name": "${name}"}`);
    assert.deepEqual(read("a.yml", `- "@type": ${cluster}\n  name: a\n- "@type": ${cluster}\n  name: b\n`), [
      "1: cluster a",
      "3: cluster b",
    ]);
    assert.deepEqual(read("a.json", `[\n${items.join(",\n")}]`), ["2: cluster a", "3: cluster b"]);
  });
  test("a resource file may hold several YAML documents, some of them empty", () => {
    const text = `---\n# nothing\n---\n"@type": ${cluster}\nname: a\n...\n---\n- "@type": ${cla}\n  cluster_name: a\n`;
    assert.deepEqual(read("a.yaml", text), ["4: cluster a", "8: endpoint a"]);
  });
  test("a resource file keeps the version of a DiscoveryResponse", () => {
    const version = (path: string, text: string | Uint8Array) => readFile(path, text).version;
    assert.equal(version("a.json", '{"version_info": "7", "resources": []}'), "7");
    assert.equal(version("a.yaml", 'versionInfo: "7"\nresources: []\n'), "7");
    assert.equal(version("a.pb_text", 'version_info: "7"'), "7");
    assert.equal(version("a.pb", new Uint8Array([0x0a, 1, 0x37])), "7");
    assert.equal(version("a.yaml", "resources: []\n"), "");
    assert.equal(version("a.yaml", `"@type": ${cluster}\nname: web\n`), "");
  });
  test("a resource file may hold a DiscoveryResponse, with or without @type, version and type URL", () => {
    const item = `{"@type": "${cluster}", "name": "a"}`;
    assert.deepEqual(read("a.json", `{"version_info": "7",\n"resources": [\n${item}]}`), ["3: cluster a"]);
    const typed = '"@type": type.googleapis.com/envoy.service.discovery.v3.DiscoveryResponse';
    assert.deepEqual(read("a.yaml", `${typed}\ntypeUrl: ${cluster}\nresources:\n- "@type": ${cluster}\n  name: a\n`), [
      "4: cluster a",
    ]);
    assert.deepEqual(read("a.yaml", "resources: []\n"), []);
    assert.deepEqual(read("a.yaml", "resources:\nnonce: n\n"), []);
    assert.deepEqual(read("a.yaml", `type_url: ${cla}\nresources:\n- "@type": ${cluster}\n  name: a\n`), [
      'a.yaml:3:3: cluster "a": the response\'s type_url says that it holds envoy.config.endpoint.v3.ClusterLoadAssignment [XDSKIT_TYPE_MISMATCH]',
    ]);
  });
  test("a resource file may wrap a resource in a Resource with name, aliases and TTL", () => {
    const host = '"@type": type.googleapis.com/envoy.config.route.v3.VirtualHost';
    const text = `- "@type": ${wrapper}\n  name: r/h\n  aliases: [x, y]\n  ttl: 1.5s\n  resource:\n    ${host}\n    name: r/h\n    domains: ["*"]\n`;
    const { resources, findings } = readFile("a.yaml", text);
    assert.deepEqual(findings, []);
    const [found] = resources;
    assert.deepEqual(
      [found?.resource.name, found?.resource.aliases, found?.resource.ttl, found?.where.line],
      ["r/h", ["x", "y"], 1500, 5],
    );
  });
  test("a resource file gives a warning and the resource if a wrapper has another name than the resource", () => {
    const wrapped = (content: string) => `"@type": ${wrapper}\nname: b\nresource:\n  "@type": ${content}\n`;
    assert.deepEqual(read("a.yaml", wrapped(`${cluster}\n  name: a`)), [
      "3: cluster b",
      'a.yaml:5:3: cluster "b", name: its own name is not that of the wrapper, "b": clients may refuse it, or be unable to remove it [XDSKIT_NAME_DIFFERS]',
    ]);
    assert.match(
      read("a.yaml", wrapped(`${cla}\n  cluster_name: a`)).join(),
      /a\.yaml:5:3: .*cluster_name: .*XDSKIT_NAME_DIFFERS/,
    );
    assert.equal(readFile("a.yaml", wrapped(`${cluster}\n  name: a`)).findings[0]?.severity, "warning");
    assert.deepEqual(read("a.yaml", wrapped(`${cluster}\n  name: b`)), ["3: cluster b"]);
    const endpoint = "type.googleapis.com/envoy.config.endpoint.v3.LbEndpoint";
    const address = "endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: 1 } } }";
    assert.deepEqual(read("a.yaml", wrapped(`${endpoint}\n  ${address}`)), ["3: locality-endpoint b"]);
  });
  test("a federation name that cannot be the resource's is a finding at its field", () => {
    const named = (name: string) => `"@type": ${cluster}\nconnect_timeout: 1s\nname: ${name}\n`;
    assert.deepEqual(read("a.yaml", named("xdstp://x/envoy.config.cluster.v3.Cluster/a?b=1")), [
      "1: cluster xdstp://x/envoy.config.cluster.v3.Cluster/a?b=1",
    ]);
    assert.deepEqual(read("a.yaml", named("xdstp://x/envoy.config.listener.v3.Listener/a")), [
      'a.yaml:3:1: cluster "xdstp://x/envoy.config.listener.v3.Listener/a", name: "xdstp://x/envoy.config.listener.v3.Listener/a": it says that it is of type envoy.config.listener.v3.Listener, and the resource is of type envoy.config.cluster.v3.Cluster [XDSKIT_NAME_XDSTP]',
    ]);
    for (const bad of [
      "xdstp://",
      "xdstp://x/envoy.config.cluster.v3.Cluster/*",
      "xdstp://x/envoy.config.cluster.v3.Cluster/%zz",
    ])
      assert.match(read("a.yaml", named(bad)).join(), /^a\.yaml:3:1: .* \[XDSKIT_NAME_XDSTP\]$/);
    const wrapped = `"@type": ${wrapper}\nname: xdstp:x\nresource: { "@type": ${cluster}, name: xdstp:x }\n`;
    assert.match(read("a.yaml", wrapped).join(), /^a\.yaml:3:\d+: .* \[XDSKIT_NAME_XDSTP\]$/);
    const host = "type.googleapis.com/envoy.config.route.v3.VirtualHost";
    const below = "xdstp://x/envoy.config.route.v3.RouteConfiguration/r/www";
    const virtualHost = `"@type": ${wrapper}\nname: ${below}\nresource: { "@type": ${host}, name: ${below}, domains: [w] }\n`;
    assert.deepEqual(read("a.yaml", virtualHost), [`3: virtual-host ${below}`]);
  });
  test("an invalid TTL is reported as the file writes it", () => {
    const text = `"@type": ${wrapper}\nttl: -5s\nresource: { "@type": ${cluster}, name: a }\n`;
    assert.match(read("a.yaml", text).join(), /a TTL must be more than 0s, not -5s \[XDSKIT_TTL\]/);
  });
  test("a resource file holds nothing if it is empty, or has only comments", () => {
    for (const text of ["", "\n\n", "# nothing\n", "---\n", "---\n---\n", "\ufeff", "[]"])
      assert.deepEqual(read("a.yaml", text), [], text);
    for (const text of ["", " \n", "null", "[]"]) assert.deepEqual(read("a.json", text), [], text);
    for (const path of ["a.pb", "a.pb_text", "a.textproto"]) assert.deepEqual(read(path, ""), [], path);
  });
  test("a resource file may hold v2 types, which are read as v3, inside too", () => {
    const v2 = `"@type": type.googleapis.com/envoy.api.v2.Listener
name: l
api_listener:
  api_listener:
    "@type": type.googleapis.com/envoy.config.filter.network.http_connection_manager.v2.HttpConnectionManager
    stat_prefix: s
    rds: { route_config_name: r, config_source: { ads: {} } }
`;
    const v3 = v2
      .replace("envoy.api.v2.Listener", "envoy.config.listener.v3.Listener")
      .replace(
        "envoy.config.filter.network.http_connection_manager.v2",
        "envoy.extensions.filters.network.http_connection_manager.v3",
      );
    const [old, now] = [v2, v3].map((text) => readFile("a.yaml", text));
    assert.deepEqual(now?.findings, []);
    assert.deepEqual(old, now);
  });
  test("a finding names the successor of a v2 field that v3 dropped", () => {
    const old = `"@type": type.googleapis.com/envoy.api.v2.Cluster\nname: a\nhosts: []\n`;
    assert.match(read("a.yaml", old).join(), /^a\.yaml:3:1: .*hosts: .*removed from the API; use "load_assignment"/);
    const route = "type.googleapis.com/envoy.api.v2.RouteConfiguration";
    const match = "{ regex: a, headers: [{ name: a, regex_match: a }], query_parameters: [{ name: a, regex: true }] }";
    const routes = `"@type": ${route}\nname: a\nvirtual_hosts: [{ routes: [{ match: ${match} }] }]`;
    const found = read("a.yaml", routes).map((line) => /use "(\w+)"/.exec(line)?.[1]);
    assert.deepEqual(found, ["safe_regex", "safe_regex_match", "string_match"]);
  });
  test("a resource file may hold responses and wrappers of v2", () => {
    const item = '{"@type": "type.googleapis.com/envoy.api.v2.Cluster", "name": "a"}';
    const wrapped = `{"@type": "type.googleapis.com/envoy.api.v2.Resource", "name": "b", "resource": ${item}}`;
    const text = `{"@type": "type.googleapis.com/envoy.api.v2.DiscoveryResponse", "resources": [${item}, ${wrapped}]}`;
    assert.deepEqual(read("a.json", text.replace('"name": "b"', '"name": "a"')), ["1: cluster a", "1: cluster a"]);
  });
  test("a resource file may hold extensions of the user's own descriptor sets", () => {
    const file = create(FileDescriptorProtoSchema, {
      name: "acme/own.proto",
      package: "acme",
      syntax: "proto3",
      messageType: [
        { name: "Own", field: [{ name: "some_size", number: 1, type: 13, label: 1, jsonName: "someSize" }] },
      ],
    });
    const descriptorSets = [toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }))];
    const text = (field: string) =>
      `"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig\nname: a\ntyped_config:\n  "@type": type.googleapis.com/acme.Own\n  ${field}\n`;
    const own = (field: string) =>
      readResources(
        { path: "a.yaml", bytes: new TextEncoder().encode(text(field)) },
        { registry: createRegistry({ descriptorSets }) },
      );
    assert.equal(own("some_size: 7").resources.length, 1);
    assert.match(own("some_sise: 7").findings.map(describe).join(), /^a\.yaml:5:3: .*did you mean "some_size"/);
    assert.match(read("a.yaml", text("some_size: 7")).join(), /--descriptors FILE/);
  });
  test("a resource file may hold a TypedStruct, which stands for any type", () => {
    for (const name of ["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"]) {
      const typed = `"@type": type.googleapis.com/${name}\n    type_url: acme.Own\n    value: { a: [1, true] }`;
      const text = `"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig\nname: a\ntyped_config:\n    ${typed}\n`;
      assert.deepEqual(read("a.yaml", text), ["1: extension-config a"]);
    }
  });
  test("a resource file is refused if it is of another kind", () => {
    assert.match(read("a.txt", "").join(), /XDSKIT_FILE_FORM/);
    assert.match(read("a.yaml", "hello").join(), /a\.yaml:1:1: expected a resource: .* \[XDSKIT_FILE_FORM\]/);
    assert.match(read("a.yaml", "- 1\n- 2\n").join("\n"), /a\.yaml:1:3: .*\na\.yaml:2:3: /);
    assert.match(read("a.yaml", "node: { id: a }\n").join(), /a\.yaml:1:1: a resource lacks "@type"/);
  });
});

suite("a finding in a resource file", () => {
  test("a finding has its place, for several resources and several fields", () => {
    const text = `- "@type": ${cluster}
  name: web
  lb_polcy: RANDOM
  load_assignment:
    endpoints:
    - lbendpoints: []
- "@type": ${cluster}
  name: good
- "@type": ${cluster}
  connect_timeout: 0s
`;
    assert.deepEqual(read("a.yaml", text), [
      "7: cluster good",
      'a.yaml:3:3: cluster "web", lb_polcy: envoy.config.cluster.v3.Cluster has no such field; did you mean "lb_policy"? [XDSKIT_FIELD_UNKNOWN]',
      'a.yaml:6:7: cluster "web", load_assignment.endpoints[0].lbendpoints: envoy.config.endpoint.v3.LocalityLbEndpoints has no such field; ' +
        'did you mean "lb_endpoints"? [XDSKIT_FIELD_UNKNOWN]',
      "a.yaml:9:3: cluster, name: must not be empty (string.min_len: 1) [XDSKIT_RULE_BROKEN]",
      "a.yaml:10:3: cluster, connect_timeout: must be more than 0s (duration.gt: 0s) [XDSKIT_RULE_BROKEN]",
    ]);
  });
  test("a finding says how a duration must be written", () => {
    const found = (value: string) => read("a.yaml", `"@type": ${cluster}\nname: a\nconnect_timeout: ${value}\n`).join();
    const suggested = (value: string) => /; write "(.*)" \[XDSKIT_FIELD_INVALID\]$/.exec(found(value))?.[1];
    const written = { "500ms": "0.5s", "1m30s": "90s", "1s500ms": "1.5s", "2h": "7200s", "250us": "0.00025s", 5: "5s" };
    for (const [value, expected] of Object.entries(written)) assert.equal(suggested(value), expected);
    for (const value of ["soon", "5 s", "1.2.3ms", "-1ms", "[5]"]) assert.equal(suggested(value), undefined, value);
    assert.match(found("soon"), /expected a duration in seconds such as "0.25s", found a string \[/);
  });
  test("a finding does not show a value of the wrong kind", () => {
    const fields = {
      name: "5",
      connect_timeout: "5",
      type: "STRICT_DSN",
      lb_policy: "[1]",
      per_connection_buffer_limit_bytes: "-1",
      health_checks: "soon",
      wait_for_warm_on_init: "maybe",
      metadata: "[secret]",
      typed_extension_protocol_options: "{ a: { name: secret } }",
    };
    const lines = Object.entries(fields).map(([key, value]) => `${key}: ${value}`);
    const found = read("a.yaml", `"@type": ${cluster}\n${lines.join("\n")}\n`);
    assert.deepEqual(
      found.map((line) => line.replace(/: cluster, /, " ").replace(/ \[XDSKIT_FIELD_INVALID\]/, "")),
      [
        "a.yaml:2:1 name: expected a string (numbers and booleans in quotes), found a number",
        'a.yaml:3:1 connect_timeout: expected a duration in seconds such as "0.25s", found a number; write "5s"',
        'a.yaml:4:1 type: expected one of STATIC, STRICT_DNS, LOGICAL_DNS, EDS, ORIGINAL_DST (did you mean "STRICT_DNS"?), found a string',
        "a.yaml:5:1 lb_policy: expected one of ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, MAGLEV, CLUSTER_PROVIDED, LOAD_BALANCING_POLICY_CONFIG, found a list",
        "a.yaml:6:1 per_connection_buffer_limit_bytes: expected a whole number from 0 to 4294967295, found a number",
        "a.yaml:7:1 health_checks: expected a list, found a string",
        "a.yaml:8:1 wait_for_warm_on_init: expected true or false, found a string",
        "a.yaml:9:1 metadata: expected a mapping (envoy.config.core.v3.Metadata), found a list",
        'a.yaml:10:37 typed_extension_protocol_options["a"]: lacks "@type", the type URL that says what it is [XDSKIT_TYPE_MISSING]',
      ],
    );
  });
  test("a finding reports text behind a duration", () => {
    const text = (timeout: string) => `"@type": ${cluster}\nname: 10sx\nconnect_timeout: ${timeout}\n`;
    for (const bad of ["1s500ms", "1.5ss", '"2s "']) {
      assert.match(read("a.yaml", text(bad)).join(), /^a\.yaml:3:1: .*expected a duration/, bad);
    }
    for (const good of ["1s", "1.5s", "0.000000001s"])
      assert.deepEqual(read("a.yaml", text(good)), ["1: cluster 10sx"], good);
    assert.match(
      read("a.yaml", text("1m")).join() + read("a.yaml", text("0.0000000001s")).join(),
      /expected a duration.*expected a duration/,
    );
  });
  test("a finding reports a field in both spellings, and two members of a oneof", () => {
    const text = `{"@type": "${cluster}", "name": "a",\n"lb_policy": "RANDOM",\n"lbPolicy": "RANDOM",\n"type": "EDS",\n"cluster_type": {"name": "x"}}`;
    assert.deepEqual(
      read("a.json", text).map((line) => line.slice(0, line.indexOf(" [XDSKIT"))),
      [
        'a.json:2:1: cluster "a", lb_policy: is there twice, in both spellings',
        'a.json:5:1: cluster "a", cluster_type: only one of type and cluster_type may be set',
      ],
    );
  });
  test("a finding says for an unknown type how to register it, or which type was meant", () => {
    const text = (url: string) =>
      `"@type": ${cluster}\nname: a\ntransport_socket:\n  name: b\n  typed_config:\n    "@type": ${url}\n    x: 1\n`;
    assert.match(
      read("a.yaml", text("type.googleapis.com/acme.Own")).join(),
      /^a\.yaml:6:5: .*--descriptors FILE.*descriptorSets.*XDSKIT_TYPE_UNKNOWN/,
    );
    assert.match(
      read("a.yaml", `"@type": type.googleapis.com/envoy.config.cluster.v3.Clutser\nname: a`).join(),
      /did you mean "type.googleapis.com\/envoy.config.cluster.v3.Cluster"/,
    );
    assert.match(
      read("a.yaml", '"@type": type.googleapis.com/google.protobuf.Struct\nvalue: {}').join(),
      /XDSKIT_TYPE_UNKNOWN/,
    );
  });
  test("a finding has its place through aliases and merge keys", () => {
    const text = `base: &base
  - "@type": ${cluster}
`;
    assert.match(read("a.yaml", text).join(), /"@type"/);
    const merged = `- &a\n  "@type": ${cluster}\n  name: a\n  connect_timeout: 0s\n- <<: *a\n  name: b\n`;
    assert.deepEqual(
      read("a.yaml", merged).map((line) => line.slice(0, 36)),
      ['a.yaml:4:3: cluster "a", connect_tim', 'a.yaml:4:3: cluster "b", connect_tim'],
    );
  });
  test("a finding does not keep a resource from being read if it is a warning", () => {
    const found = read(
      "a.yaml",
      `"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig
name: large
typed_config: { "@type": type.googleapis.com/envoy.type.matcher.v3.RegexMatcher, regex: "a{900}" }
`,
    );
    assert.equal(found.length, 2);
    assert.match(
      found.join("\n"),
      /^1: extension-config large\na\.yaml:3:\d+: .*typed_config.regex: .*XDSKIT_REGEX_LARGE/,
    );
  });
  test("a file has at most 100 findings", () => {
    const items = Array.from({ length: 300 }, () => `- "@type": ${cluster}\n`).join("");
    assert.equal(readFile("a.yaml", items).findings.length, 100);
  });
  test("an error after 100 warnings is a finding, and takes the place of a warning", () => {
    const route = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
    const large = '{ match: { safe_regex: { regex: "a{900}" } }, non_forwarding_action: {} }';
    const routes = Array.from({ length: 100 }, () => large).join(", ");
    const text = `- "@type": ${route}\n  name: r\n  virtual_hosts: [{ name: h, domains: ["*"], routes: [${routes}] }]\n`;
    assert.deepEqual(
      readFile("a.yaml", text).findings.map(({ code }) => code),
      Array.from({ length: 100 }, () => "XDSKIT_REGEX_LARGE"),
    );
    const endings = {
      XDSKIT_RULE_BROKEN: `- "@type": ${cluster}\n  name: bad\n  connect_timeout: 0s\n`,
      XDSKIT_NAME_XDSTP: `- "@type": ${cluster}\n  name: xdstp:bad\n`,
      XDSKIT_FIELD_UNKNOWN: `- "@type": ${cluster}\n  nam: bad\n`,
    };
    for (const [code, ending] of Object.entries(endings)) {
      const { resources, findings } = readFile("a.yaml", text + ending);
      assert.deepEqual(
        resources.map(({ resource }) => resource.name),
        ["r"],
      );
      assert.deepEqual([findings.length, findings.at(-1)?.code, findings.at(-1)?.severity], [100, code, "error"]);
    }
  });
});
