import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { create, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { formatFieldPath } from "../errors/field-path.js";
import { createRegistry } from "../registry/registry.js";
import { formatEnvoyVersion, parseEnvoyVersion } from "./envoy-version.js";
import { describeNewerPart, newerParts } from "./newer-parts.js";
import { newestEnvoyVersion, oldestEnvoyVersion } from "./since.js";

const registry = createRegistry();

function schemaOf(typeName: string) {
  return registry.getMessage(typeName) ?? assert.fail(`no ${typeName}`);
}

/** The parts of a message that an Envoy of a version does not know: `kind path: text`. */
function newer(version: string, typeName: string, json: JsonObject): readonly string[] {
  const schema = schemaOf(typeName);
  const body = toBinary(schema, fromJson(schema, json, { registry }));
  return newerParts(schema, body, parseEnvoyVersion(version) ?? assert.fail(version), registry).map(
    (part) => `${part.kind} ${formatFieldPath(part.steps)}: ${describeNewerPart(part)}`,
  );
}

const cluster = "envoy.config.cluster.v3.Cluster";

describe("the parts of a message that an older Envoy does not know", () => {
  it("a field that came later is found once for a list, and nothing inside it", () => {
    const json = { name: "a", statsMatcher: { rejectAll: true }, perConnectionBufferHighWatermarkTimeout: "1s" };
    assert.deepEqual(newer("1.39", cluster, json), ['field stats_matcher: field "stats_matcher" is new in Envoy 1.40']);
    assert.deepEqual(newer("1.32", cluster, json), [
      'field per_connection_buffer_high_watermark_timeout: field "per_connection_buffer_high_watermark_timeout" is new in Envoy 1.38',
      'field stats_matcher: field "stats_matcher" is new in Envoy 1.40',
    ]);
    assert.deepEqual(newer("1.40", cluster, json), []);
    const service = { httpUri: { uri: "http://a", cluster: "a", timeout: "1s" } };
    assert.deepEqual(
      newer("1.36", "envoy.config.core.v3.HttpService", {
        ...service,
        formatters: [{ name: "a" }, { name: "b" }],
      }),
      ['field formatters: field "formatters" is new in Envoy 1.38'],
    );
  });

  it("a newer part is found in lists, maps and Anys, with its place", () => {
    const options = {
      "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
      explicitHttpConfig: { http2ProtocolOptions: { streamResetBurst: 5 } },
    };
    const typed = { name: "a", typedExtensionProtocolOptions: { "a.b": options } };
    assert.deepEqual(newer("1.35", cluster, typed), [
      'field typed_extension_protocol_options["a.b"].explicit_http_config.http2_protocol_options.stream_reset_burst: ' +
        'field "stream_reset_burst" is new in Envoy 1.39',
    ]);
  });

  it("an extension that came later is found at the Any that holds it", () => {
    const credentials = {
      "@type": "type.googleapis.com/envoy.extensions.grpc_service.channel_credentials.insecure.v3.InsecureCredentials",
    };
    const config = { name: "a", typedConfig: credentials };
    assert.deepEqual(newer("1.35", "envoy.config.core.v3.TypedExtensionConfig", config), [
      "type typed_config: " +
        'type "envoy.extensions.grpc_service.channel_credentials.insecure.v3.InsecureCredentials" is new in Envoy 1.36',
    ]);
  });

  it("a value that an enum got later is found, in packed lists too", () => {
    const filter = { comparison: { op: "NE", value: { defaultValue: 1, runtimeKey: "a" } } };
    assert.deepEqual(newer("1.35", "envoy.config.accesslog.v3.StatusCodeFilter", filter), [
      'value comparison.op: value "NE" is new in Envoy 1.37',
    ]);
  });

  it("a newer part is found behind an empty packed list", () => {
    const version = parseEnvoyVersion("1.39") ?? assert.fail();
    const schema = schemaOf("envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.ConnPoolSettings");
    const policy = schema.fields.find(({ name }) => name === "read_policy") ?? assert.fail();
    // The same field as a packed list of length 0, and then as the new value 5.
    const body = Uint8Array.of((policy.number << 3) | 2, 0, policy.number << 3, 5);
    const found = newerParts(schema, body, { ...version, minor: 36 }, registry);
    assert.deepEqual(found.map(describeNewerPart), ['value "LOCAL_ZONE_AFFINITY" is new in Envoy 1.38']);
  });

  it("nothing is found if the bytes are no such message, or hold unknown parts", () => {
    const version = parseEnvoyVersion("1.32") ?? assert.fail();
    assert.deepEqual(newerParts(schemaOf(cluster), Uint8Array.of(0xff, 0xff), version, registry), []);
    const typedConfig = create(AnySchema, { typeUrl: "type.googleapis.com/a.B", value: Uint8Array.of(1) });
    const schema = schemaOf("envoy.config.core.v3.TypedExtensionConfig");
    const body = toBinary(schema, create(schema, { name: "a", typedConfig } as Record<string, unknown>));
    assert.deepEqual(newerParts(schema, body, version, registry), []);
  });
});

describe("a version of Envoy", () => {
  it("a version of Envoy is read with or without a patch number", () => {
    for (const text of ["1.36", "1.36.2", "v1.36.0-dev"])
      assert.deepEqual(parseEnvoyVersion(text), { major: 1, minor: 36 });
    for (const text of ["", "1", "a.b", "1.x", "-1.2"]) assert.equal(parseEnvoyVersion(text), undefined);
  });

  it("a version of Envoy is 1.40 if it is the newest that the table knows", () => {
    assert.deepEqual(newestEnvoyVersion(), { major: 1, minor: 40 });
  });

  it("the oldest version that is compared is the first one that the table is made of", () => {
    const modules = readFileSync(new URL("../../schema/modules.txt", import.meta.url), "utf8");
    assert.equal(formatEnvoyVersion(oldestEnvoyVersion), modules.slice(0, modules.indexOf(" ")));
  });
});
