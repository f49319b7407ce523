import { each, type FileForm, otherwise, refused, taken } from "./file-form.js";

const cluster = "envoy.config.cluster.v3.Cluster";
const host = "envoy.config.route.v3.VirtualHost";
const listener = "envoy.config.listener.v3.Listener";
const source = "envoy.config.core.v3.DataSource";
const metadata = "envoy.config.core.v3.Metadata";
const parameters = "envoy.service.discovery.v3.ResourceLocator";
const url = (name: string) => `type.googleapis.com/${name}`;
const any = (content: string) => `"typed_filter_metadata": {"k": ${content}}`;
const typed = (name: string, more = "") => any(`{"@type": "${url(name)}"${more}}`);

const single = "one value for a list";
const nested = "a list in a list";
const nothing = "null, or nothing behind a key";
const wrappers = "wrappers as messages";
const names = "both spellings of a field's name";
const anys = "an `Any` of a type with a form of its own";
const twice = "a key or a field twice, also in both spellings";
const forgotten = "nothing as an item of a list";

/** Fields of messages, lists and maps. */
export const messageForms: readonly FileForm[] = [
  ...taken(single, host, "json", { '"domains": "a"': { domains: ["a"] }, '"domains": ""': { domains: [""] } }),
  ...taken(single, host, "yaml", { "domains: a": { domains: ["a"] }, "domains: 1.10": { domains: ["1.10"] } }),
  ...taken(
    single,
    host,
    "json",
    each('"virtual_clusters"', ['{"name": "a"}', '[{"name": "a"}]'], { virtual_clusters: [{ name: "a" }] }),
  ),
  ...taken(single, host, "json", { '"virtual_clusters": {}': { virtual_clusters: [{}] } }),
  ...taken(
    single,
    "envoy.config.metrics.v3.HistogramBucketSettings",
    "json",
    each('"buckets"', ["5", '"5"', '["5"]'], { buckets: [5] }),
  ),
  ...taken(
    single,
    "envoy.config.core.v3.HealthStatusSet",
    "json",
    each('"statuses"', ['"healthy"', "1"], { statuses: ["HEALTHY"] }),
  ),
  ...refused(host, "json", ['"domains": {"0": "a"}', '"domains": 12', '"domains": [12]', '"virtual_clusters": "a"']),
  ...taken(nested, host, "json", { '"domains": [["a"], [], ["b", ["c"]]]': { domains: ["a", "b", "c"] } }),
  ...taken(nested, host, "yaml", { "domains: [[1.10, a], b]": { domains: ["1.10", "a", "b"] } }),
  ...taken(nested, host, "json", { '"virtual_clusters": [[{"name": "a"}]]': { virtual_clusters: [{ name: "a" }] } }),
  ...taken(nothing, host, "json", { '"domains": null, "name": null, "virtual_clusters": null': {} }),
  ...taken(nothing, host, "yaml", { "domains:\nname: ~\nretry_policy: null": {} }),
  ...taken(nothing, cluster, "json", { '"type": null, "connect_timeout": null, "load_assignment": null': {} }),
  ...taken(nothing, metadata, "yaml", {
    "filter_metadata: { a: { b: null } }": { filter_metadata: { a: { b: null } } },
  }),
  ...taken(nothing, metadata, "yaml", { "filter_metadata:\n  a:": { filter_metadata: { a: {} } } }),
  ...taken(nothing, parameters, "json", { '"dynamic_parameters": {"a": null}': { dynamic_parameters: { a: "" } } }),
  ...taken(nothing, metadata, "json", {
    [any("null")]: { typed_filter_metadata: { k: {} } },
    [any("{}")]: { typed_filter_metadata: { k: {} } },
  }),
  ...taken(nothing, source, "json", {
    '"filename": "a", "inline_string": null': { filename: "a" },
    '"filename": null, "inline_string": "a"': { inline_string: "a" },
  }),
  ...refused(cluster, "json", ['"nope": null', '"nope": 1', '"Name": "a"', '"connect-timeout": "1s"', '"hosts": []']),
  ...refused(metadata, "json", ['"filter_metadata": []', '"filter_metadata": "a"', '"filter_metadata": {"a": [1]}']),
  ...otherwise(forgotten, host, "json", { '"domains": ["a", null]': { envoy: { domains: ["a", ""] } } }),
  ...otherwise(forgotten, host, "yaml", {
    "virtual_clusters:\n- name: a\n-": { envoy: { virtual_clusters: [{ name: "a" }, {}] } },
  }),
  ...taken(
    wrappers,
    listener,
    "json",
    each('"enable_reuse_port"', ["true", '"true"', '{"value": true}', '{"value": "t"}'], { enable_reuse_port: true }),
  ),
  ...taken(
    wrappers,
    listener,
    "json",
    each('"enable_reuse_port"', ["{}", '{"value": null}', '"0"'], { enable_reuse_port: false }),
  ),
  ...taken(
    wrappers,
    listener,
    "yaml",
    each("per_connection_buffer_limit_bytes", ["{ value: 3 }", '"3"', "3.0"], { per_connection_buffer_limit_bytes: 3 }),
  ),
  ...refused(listener, "json", ['"enable_reuse_port": [true]', '"per_connection_buffer_limit_bytes": {"x": 3}']),
  ...taken(names, cluster, "json", each('"connectTimeout"', ['"1s"', '{"seconds": "1"}'], { connect_timeout: "1s" })),
  ...taken(names, cluster, "json", {
    '"connect_timeout": "1s", "alt\\u005fstat_name": "a"': { connect_timeout: "1s", alt_stat_name: "a" },
  }),
  ...taken(names, cluster, "yaml", {
    "connectTimeout: 1s\nalt_stat_name: a": { connect_timeout: "1s", alt_stat_name: "a" },
  }),
  ...otherwise(twice, cluster, "json", {
    '"connect_timeout": "1s", "connectTimeout": "2s"': { envoy: { connect_timeout: "2s" } },
  }),
  ...otherwise(twice, cluster, "json", { '"name": "a", "name": "b"': { envoy: { name: "b" } } }),
  ...otherwise(twice, host, "json", { '"domains": ["a"], "domains": ["b"]': { envoy: { domains: ["a", "b"] } } }),
  ...otherwise(twice, cluster, "yaml", { "name: a\nname: b": { envoy: { name: "b" } } }),
  ...refused(source, "json", ['"filename": "a", "inline_string": "b"', '"filename": "a", "filename": "b"']),
  ...refused(metadata, "json", [
    '"filter_metadata": {"a": {}, "a": {"b": 1}}',
    '"filter_metadata": {"a": {"b": 1, "b": 2}}',
  ]),
  ...taken(anys, metadata, "json", {
    [typed("google.protobuf.Duration", ', "value": {"seconds": 1}')]: durationOf("1s"),
  }),
  ...taken(anys, metadata, "json", {
    [typed("google.protobuf.Duration")]: durationOf("0s"),
    [typed("google.protobuf.Duration", ', "value": null')]: durationOf("0s"),
  }),
  ...taken(anys, metadata, "json", {
    [typed("google.protobuf.Struct")]: holding("google.protobuf.Struct", {}),
    [typed("google.protobuf.BoolValue", ', "value": "yes"')]: holding("google.protobuf.BoolValue", true),
  }),
  ...taken(anys, metadata, "json", {
    [typed("google.protobuf.Any", ', "value": {}')]: holding("google.protobuf.Any", {}),
    [typed("google.protobuf.Any")]: holding("google.protobuf.Any", {}),
  }),
  ...taken(anys, metadata, "json", {
    [typed("xds.type.v3.TypedStruct", ', "typeUrl": "x", "value": {"a": 1}')]: {
      typed_filter_metadata: { k: { "@type": url("xds.type.v3.TypedStruct"), type_url: "x", value: { a: 1 } } },
    },
  }),
  ...taken(anys, metadata, "json", {
    [any(`{"name": "a", "@type": "${url(cluster)}", "type": "eds"}`)]: {
      typed_filter_metadata: { k: { "@type": url(cluster), name: "a", type: "EDS" } },
    },
  }),
  ...refused(metadata, "json", [
    typed("google.protobuf.Struct", ', "a": 1'),
    typed("google.protobuf.Struct", ', "value": {}, "x": 1'),
    typed("google.protobuf.Duration", ', "seconds": 1'),
  ]),
  ...refused(metadata, "json", [
    typed("google.protobuf.Empty", ', "value": {}'),
    typed("no.Such"),
    any('{"@type": ""}'),
    any('{"@type": 12}'),
    any('{"value": ""}'),
    any("[]"),
    any('"a"'),
  ]),
  ...refused(metadata, "json", [
    any(`{"type_url": "${url("google.protobuf.StringValue")}", "value": "CgFh"}`),
    typed(cluster, ', "value": {"name": "a"}'),
  ]),
];

function holding(name: string, value: boolean | string | Record<string, never>) {
  return { typed_filter_metadata: { k: { "@type": url(name), value } } };
}

function durationOf(value: string) {
  return holding("google.protobuf.Duration", value);
}
