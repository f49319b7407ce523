import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromBinary, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { parseEnvoyVersion } from "../envoy-versions/envoy-version.js";
import { missingExtensions, newerParts } from "../envoy-versions/newer-parts.js";
import { type Finding, describe as said } from "../errors/errors.js";
import { formatFieldPath } from "../errors/field-path.js";
import { readResources } from "../files/resource-file.js";
import { createRedactedBody } from "../redact/redacted-resource.js";
import { envoyRegistry } from "../registry/registry.js";
import type { Resource } from "../resources/resource.js";
import { corpus } from "../testing/corpus/index.js";
import { encodedAs } from "../writing/encoded-as.js";
import { readableJson } from "../writing/readable-json.js";
import { anyDepth } from "./depths.js";

const google = (name: string) => `type.googleapis.com/${name}`;
const forms = ["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"] as const;
const http = "envoy.extensions.filters.http";

/** A message as a TypedStruct; all `Any`s in it too. */
function structOf(type: string, fields: JsonObject, form: string = forms[0]): JsonObject {
  return { "@type": google(form), type_url: google(type), value: inStructs(fields, form) };
}

function inStructs<V extends JsonValue>(json: V, form: string = forms[0]): V {
  if (Array.isArray(json)) return json.map((item) => inStructs(item, form)) as V;
  if (typeof json !== "object" || json === null) return json;
  const { "@type": type, ...fields } = json as JsonObject;
  if (typeof type === "string" && !type.includes("google.protobuf.") && !type.includes("TypedStruct"))
    return structOf(type.slice(type.indexOf("/") + 1), fields, form) as V;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, inStructs(value, form)])) as V;
}

const configOf = (typed_config: JsonObject): JsonObject => {
  return { "@type": google("envoy.config.core.v3.TypedExtensionConfig"), name: "a", typed_config };
};

function read(json: JsonValue, path = "a.json") {
  return readResources({ path, bytes: Buffer.from(JSON.stringify(json, undefined, 1)) }, { places: true });
}

function resourceOf(json: JsonValue): Resource {
  const { resources, findings } = read(json);
  assert.deepEqual(findings.map(said), []);
  return resources[0]?.resource ?? assert.fail("no resource");
}

const findingsOf = (json: JsonValue) => read(json).findings.map(said);

const basicAuth = { users: { inline_string: "user1:{SHA}S3CR3T" } };
const lua = { default_source_code: { inline_string: "-- plain" } };

describe("a TypedStruct", () => {
  it("a TypedStruct has the findings, references and newer parts of the message that it stands for", () => {
    const each = Number(process.env.EACH ?? 25);
    const version = parseEnvoyVersion("1.32") ?? assert.fail();
    const known = (resource: Resource | undefined) => {
      if (resource === undefined) return undefined;
      const { references, type, body } = resource;
      const schema = type.schema ?? assert.fail();
      const parts = newerParts(schema, body, version, envoyRegistry());
      return {
        references,
        parts: parts.map(({ name, steps }) => `${name} ${plainPath(formatFieldPath(steps) ?? "")}`),
        missing: missingExtensions(schema, body, envoyRegistry()).map(({ type }) => type),
      };
    };
    const told = (findings: readonly Finding[]) =>
      findings.map(({ code, message, field = "" }) => `${code} ${plainPath(field)} ${message}`).sort();
    let compared = 0;
    for (const [index, { name, resource }] of corpus().entries()) {
      const { "@type": type, ...fields } = resource;
      const struct = { "@type": type ?? "", ...inStructs(fields, forms[index % 2]) };
      if (index % each !== 0 || !JSON.stringify(struct).includes("TypedStruct")) continue;
      const [plain, same] = [resource, struct].map((json) => read(json));
      assert.deepEqual(told(same?.findings ?? []), told(plain?.findings ?? []), name);
      assert.deepEqual(known(same?.resources[0]?.resource), known(plain?.resources[0]?.resource), name);
      compared += 1;
    }
    assert.ok(compared > 5_000 / each, `${compared}`);
  });

  it("a finding about the value of a TypedStruct has its line and field", () => {
    const limit = { stat_prefix: "a", token_bucket: { max_tokens: 1, fill_interval: "60m", tokens: 1 } };
    assert.deepEqual(findingsOf(configOf(structOf(`${http}.local_ratelimit.v3.LocalRateLimit`, limit))), [
      'a.json:11:5: extension-config "a", typed_config.value.token_bucket.fill_interval: expected a duration in seconds such as "0.25s", found a string; write "3600s" [XDSKIT_FIELD_INVALID]',
      'a.json:12:5: extension-config "a", typed_config.value.token_bucket.tokens: envoy.type.v3.TokenBucket has no such field; did you mean "tokens_per_fill"? [XDSKIT_FIELD_UNKNOWN]',
    ]);
    const noTime = { statPrefix: "a", tokenBucket: { maxTokens: 1, fillInterval: "0s" } };
    assert.match(
      findingsOf(configOf(structOf(`${http}.local_ratelimit.v3.LocalRateLimit`, noTime, forms[1]))).join(),
      /^a\.json:11:5: [^:]*typed_config\.value\.token_bucket\.fill_interval: must be more than 0s/,
    );
  });

  it("a TypedStruct takes the forms that Envoy takes, and leaves them as they are", () => {
    const rbac = { rules: { action: "deny", policies: {} } };
    resourceOf(configOf(structOf(`${http}.rbac.v3.RBAC`, rbac)));
    const buffer = { maxRequestBytes: "5" };
    const resource = resourceOf(configOf(structOf(`${http}.buffer.v3.Buffer`, buffer)));
    assert.deepEqual(shown(resource, true).typedConfig, {
      "@type": google(forms[0]),
      typeUrl: google(`${http}.buffer.v3.Buffer`),
      value: buffer,
    });
  });

  it("a TypedStruct of an unknown type is refused if it is one of Envoy's, or stands where it needs a type", () => {
    const refused = (fields: JsonObject) => findingsOf(configOf({ "@type": google(forms[0]), ...fields })).join();
    assert.match(
      refused({ type_url: google(`${http}.cors.v3.Corse`), value: {} }),
      /^a\.json:6:\d+: .* typed_config\.type_url: the type .*did you mean "type.googleapis.com\/envoy.extensions.filters.http.cors.v3.Cors".*TYPE_UNKNOWN/,
    );
    assert.match(refused({ value: {} }), /typed_config\.type_url: .*XDSKIT_TYPE_MISSING/);
    assert.match(refused({ type_url: google(forms[0]), value: {} }), /typed_config\.type_url: .*XDSKIT_TYPE_UNKNOWN/);
    assert.equal(refused({ type_url: "acme.Own", value: { a: 1 } }), "");
  });

  it("a TypedStruct in a TypedStruct is refused, and said to be one", () => {
    const inner = structOf(`${http}.basic_auth.v3.BasicAuth`, basicAuth);
    const outer = { "@type": google(forms[0]), type_url: google(forms[0]), value: inner };
    assert.match(findingsOf(configOf(outer)).join(), /type_url: a TypedStruct holds no other one/);
  });

  it("a TypedStruct of a type that Envoy lacks is a missing extension", () => {
    for (const type of ["acme.Own", "envoy.extensions.filters.http.dynamo.v3.Dynamo"]) {
      const { body, type: of } = resourceOf(configOf(structOf(type, {})));
      const missing = missingExtensions(of.schema ?? assert.fail(), body, envoyRegistry());
      assert.deepEqual(
        missing.map(({ type, steps }) => [type, formatFieldPath(steps)]),
        [[type, "typed_config"]],
      );
    }
  });

  it("a TypedStruct shows no secret, nested, with unknown fields, or with a value that cannot be read", () => {
    const shows = (json: JsonObject) => {
      const { resources } = readResources(
        { path: "a.json", bytes: Buffer.from(JSON.stringify(json)) },
        { validate: false },
      );
      const resource = resources[0]?.resource ?? assert.fail();
      const hidden = JSON.stringify(shown(resource, false));
      const body = Buffer.from(createRedactedBody()(resource)).toString("latin1");
      for (const text of [hidden, body]) assert.ok(!text.includes("S3CR3T"), text);
      assert.ok(JSON.stringify(shown(resource, true)).includes("S3CR3T"));
      return hidden;
    };
    for (const form of forms) {
      const filter = structOf(`${http}.basic_auth.v3.BasicAuth`, basicAuth, form);
      assert.match(shows(configOf(filter)), /"users":\{"inline_?[sS]tring":"\[redacted\]"\}/);
      const nested = { http_filters: [{ name: "a", typed_config: filter }] };
      const manager = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
      assert.match(shows(configOf(structOf(manager, { stat_prefix: "kept", ...nested }, form))), /kept/);
      assert.match(shows(configOf({ "@type": google(manager), stat_prefix: "kept", ...nested })), /kept/);
    }
    const nested = { "@type": google(`${http}.basic_auth.v3.BasicAuth`), ...basicAuth };
    const own = { "@type": google(forms[0]), type_url: google("com.example.Own"), value: { kept: "a", nested } };
    assert.match(shows(configOf(own)), /"kept":"a","nested":\{"@type":"[^"]+Auth","users":\{"\w+":"\[redacted\]"/);
    shows(configOf(structOf(`${http}.basic_auth.v3.BasicAuth`, { ...basicAuth, later: 1 })));
    shows(configOf(structOf(`${http}.basic_auth.v3.BasicAuth`, { later: { inline_string: "S3CR3T" } })));
    shows(configOf(structOf(`${http}.basic_auth.v3.BasicAuth`, { ...basicAuth, forward_username_header: {} })));
    const inner = structOf(`${http}.basic_auth.v3.BasicAuth`, basicAuth);
    for (const form of forms) {
      const twice = { "@type": google(form), type_url: google(forms[0]), value: { ...inner } };
      assert.match(shows(configOf(twice)), /"inline_string":"\[redacted\]"/);
    }
    for (const depth of [anyDepth - 2, anyDepth - 1, anyDepth]) {
      let config: JsonObject = { "@type": google("google.protobuf.Value"), value: "http://u:S3CR3T@h" };
      for (let at = 0; at < depth; at++) config = configOf(config);
      const { "@type": type_url = "", ...value } = configOf(config);
      shows(configOf({ "@type": google(forms[0]), type_url, value }));
    }
  });

  it("a TypedStruct without secrets is shown as it is, and what was left out of one is found", () => {
    const resource = resourceOf(configOf(structOf(`${http}.lua.v3.Lua`, lua)));
    assert.deepEqual(shown(resource, false), shown(resource, true));
    assert.equal(createRedactedBody()(resource), resource.body);
    const left = structOf(`${http}.basic_auth.v3.BasicAuth`, { users: { inline_string: "[redacted]" } });
    assert.match(findingsOf(configOf(left)).join(), /typed_config\.value\.users\.inline_string: .*SECRET_LEFT_OUT/);
  });

  it("a TypedStruct of v2 is read as that of v3, and sent to v2 with the names of v2", () => {
    const v2 = { "@type": google(forms[1]), type_url: google("envoy.config.filter.http.buffer.v2.BufferPerRoute") };
    const resource = resourceOf({
      "@type": google("envoy.config.route.v3.RouteConfiguration"),
      name: "a",
      typed_per_filter_config: { buffer: { ...v2, value: { disabled: true } } },
    });
    const typeIn = (body: Uint8Array) => {
      const { typedPerFilterConfig } = readableJson(fromBinary(resource.type.schema ?? assert.fail(), body));
      return ((typedPerFilterConfig as JsonObject).buffer as JsonObject).typeUrl;
    };
    assert.equal(typeIn(resource.body), google(`${http}.buffer.v3.BufferPerRoute`));
    assert.equal(typeIn(encodedAs(resource, "v2").value), v2.type_url);
  });
});

function shown({ type, body }: Resource, secrets: boolean): JsonObject {
  return readableJson(fromBinary(type.schema ?? assert.fail(), body), { secrets });
}

/** A path without the steps into TypedStructs. */
function plainPath(path: string): string {
  return path.replaceAll(/(^|\.)(value|type_url)(?=$|[.[])/g, "");
}
