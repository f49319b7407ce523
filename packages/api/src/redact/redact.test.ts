import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, type JsonValue, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { type Any, AnySchema, StructSchema } from "@bufbuild/protobuf/wkt";
import { readResources } from "../files/resource-file.js";
import { envoyRegistry } from "../registry/registry.js";
import { createResource } from "../resources/resource.js";
import { createRedactedBody } from "./redacted-resource.js";
import { redactErrorText, redactJson } from "./secret-text.js";

const hideIn = createRedactedBody();
const key = "-----BEGIN RSA PRIVATE KEY-----\nS3CR3T\n-----END RSA PRIVATE KEY-----\n";
const certificate = "-----BEGIN CERTIFICATE-----\npublic\n-----END CERTIFICATE-----\n";

/** A resource after redaction, as JSON. */
function leftOf(type: string, fields: object): string {
  const text = JSON.stringify({ "@type": `type.googleapis.com/${type}`, ...fields });
  const { resources, findings } = readResources({ path: "some.json", bytes: Buffer.from(text) }, { envoy: false });
  const [first] = resources;
  if (first === undefined) assert.fail(JSON.stringify(findings));
  const schema = envoyRegistry().getMessage(type) ?? assert.fail(type);
  const message = fromBinary(schema, hideIn(first.resource));
  return JSON.stringify(toJson(schema, message, { registry: envoyRegistry() }));
}

function secret(fields: object): string {
  return leftOf("envoy.extensions.transport_sockets.tls.v3.Secret", { name: "one", ...fields });
}

const tls = {
  certificate_chain: { inline_string: certificate },
  private_key: { inline_string: key },
  password: { inline_string: "S3CR3T" },
};

describe("a redacted resource", () => {
  it("a redacted resource keeps a certificate without its key and password", () => {
    const left = secret({ tls_certificate: tls });
    assert.ok(!left.includes("S3CR3T"), left);
    assert.ok(left.includes("BEGIN CERTIFICATE"), left);
    assert.ok(left.includes('"privateKey":{"inlineString":"[redacted]"}'), left);
  });

  it("a redacted resource keeps the names of files and variables", () => {
    const left = secret({
      tls_certificate: { ...tls, private_key: { filename: "/etc/key.pem" }, password: { environment_variable: "PW" } },
    });
    assert.ok(left.includes("/etc/key.pem") && left.includes('"PW"'), left);
  });

  it("a redacted resource has no session ticket key and no generic secret", () => {
    const keys = [{ inline_bytes: Buffer.from("S3CR3T".padEnd(80, "x")).toString("base64") }];
    const left = secret({ session_ticket_keys: { keys } });
    assert.ok(!left.includes(keys[0]?.inline_bytes.slice(0, 8) ?? "") && left.includes("keys"), left);
    assert.ok(!secret({ generic_secret: { secret: { inline_string: "S3CR3T" } } }).includes("S3CR3T"));
  });

  it("a redacted resource keeps a validation context, but no key among its certificates", () => {
    const trusted = { trusted_ca: { inline_string: `${certificate}${key}` } };
    const left = secret({ validation_context: trusted });
    assert.ok(left.includes("BEGIN CERTIFICATE") && left.includes("[redacted]") && !left.includes("S3CR3T"), left);
    const inBytes = { trusted_ca: { inline_bytes: Buffer.from(`${certificate}${key}`).toString("base64") } };
    const { trustedCa } = JSON.parse(secret({ validation_context: inBytes })).validationContext;
    assert.equal(Buffer.from(trustedCa.inlineBytes, "base64").toString(), `${certificate}[redacted]\n`);
  });

  it("a redacted resource has no key inside a listener or a cluster, however deep", () => {
    const transport_socket = {
      name: "tls",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
        common_tls_context: { tls_certificates: [tls] },
      },
    };
    const left = leftOf("envoy.config.listener.v3.Listener", {
      name: "one",
      address: { socket_address: { address: "127.0.0.1", port_value: 1 } },
      filter_chains: [{ transport_socket }],
    });
    assert.ok(!left.includes("S3CR3T") && left.includes("BEGIN CERTIFICATE"), left);
  });

  it("a redacted resource has no credentials in headers, parameters, URLs and tokens of other extensions", () => {
    const left = leftOf("envoy.config.route.v3.RouteConfiguration", {
      name: "one",
      request_headers_to_add: [
        { header: { key: "Authorization", value: "Bearer S3CR3T" } },
        { header: { key: "x-api-key", value: "S3CR3T" } },
        { header: { key: "x-team", value: "edge" } },
      ],
      typed_per_filter_config: {
        authz: {
          "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute",
          check_settings: { context_extensions: { any: "S3CR3T" } },
        },
        lambda: {
          "@type": "type.googleapis.com/envoy.extensions.filters.http.aws_lambda.v3.Config",
          arn: "arn:aws:lambda:eu-1:1:function:f",
          credentials: { access_key_id: "S3CR3T", secret_access_key: "S3CR3T" },
        },
        own: {
          "@type": "type.googleapis.com/xds.type.v3.TypedStruct",
          type_url: "own",
          value: { db: { passWord: "S3CR3T", user: "me" }, url: "https://me:S3CR3T@example.org", list: [key] },
        },
      },
    });
    assert.ok(!left.includes("S3CR3T"), left);
    for (const kept of ["edge", "arn:aws", '"user":"me"', "https://me:[redacted]@example.org"]) {
      assert.ok(left.includes(kept), `${kept}: ${left}`);
    }
  });

  it("a redacted resource has no credentials in request matchers", () => {
    const match = {
      prefix: "/",
      headers: [
        { name: "X-Api-Key", string_match: { exact: "S3CR3T" } },
        { name: "authorization", exact_match: "Bearer S3CR3T" },
        { name: "cookie", string_match: { safe_regex: { regex: "sid=S3CR3T" } } },
        { name: "x-team", string_match: { exact: "edge" } },
        { name: "x-secret", present_match: true, invert_match: true },
      ],
      query_parameters: [{ name: "access_token", string_match: { exact: "S3CR3T" } }],
    };
    const virtual_hosts = [{ name: "v", domains: ["*"], routes: [{ match, direct_response: { status: 200 } }] }];
    const left = leftOf("envoy.config.route.v3.RouteConfiguration", { name: "one", virtual_hosts });
    assert.ok(!left.includes("S3CR3T"), left);
    for (const kept of ['"exact":"edge"', "X-Api-Key", '"presentMatch":true', '"invertMatch":true']) {
      assert.ok(left.includes(kept), `${kept}: ${left}`);
    }
  });

  it("a redacted resource has no secret in the texts of an extension, such as variables and JSON", () => {
    const vm_config = {
      environment_variables: { key_values: { DB_PASSWORD: "S3CR3T", REGION: "eu" } },
      configuration: {
        "@type": "type.googleapis.com/google.protobuf.StringValue",
        value: '{"api_key": "S3CR3T", "mode": "fast"}',
      },
    };
    const left = leftOf("envoy.config.core.v3.TypedExtensionConfig", {
      name: "wasm",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
        config: { vm_config },
      },
    });
    assert.ok(!left.includes("S3CR3T"), left);
    for (const kept of ["eu", "fast", "DB_PASSWORD"]) assert.ok(left.includes(kept), left);
  });

  it("a redacted resource has no secret in values that stand alone, or as parameters to add", () => {
    const google = (name: string) => `type.googleapis.com/google.protobuf.${name}`;
    const url = "https://me:S3CR3T@example.org";
    for (const typed_config of [
      { "@type": google("Value"), value: url },
      { "@type": google("Value"), value: { token: "S3CR3T", list: [url] } },
      { "@type": google("ListValue"), value: [url, { token: "S3CR3T" }] },
    ]) {
      const left = leftOf("envoy.config.core.v3.TypedExtensionConfig", { name: "one", typed_config });
      assert.ok(!left.includes("S3CR3T"), left);
      assert.ok(left.includes("me:[redacted]@example.org"), left);
    }
    const mutations = [
      { append: { record: { key: "access_token", value: "S3CR3T" } } },
      { append: { record: { key: "next", value: url } } },
    ];
    const left = leftOf("envoy.config.core.v3.TypedExtensionConfig", {
      name: "one",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
        mutations: { query_parameter_mutations: mutations },
      },
    });
    assert.ok(!left.includes("S3CR3T"), left);
    assert.ok(left.includes("me:[redacted]@example.org") && left.includes("access_token"), left);
  });

  it("a redacted resource has no content of unknown messages and unknown fields", () => {
    const schema = envoyRegistry().getMessage("envoy.config.cluster.v3.Cluster") ?? assert.fail();
    const unknown = create(AnySchema, { typeUrl: "type.googleapis.com/own.Filter", value: Buffer.from("S3CR3T") });
    const cluster = create(schema, {
      name: "one",
      typedExtensionProtocolOptions: { own: unknown, struct: structAny({ token: { inner: "S3CR3T" }, n: 1 }) },
    } as Record<string, unknown>);
    cluster.$unknown = [{ no: 9_999, wireType: 2, data: Buffer.from([6, ...Buffer.from("S3CR3T")]) }];
    const resource = createResource(cluster);
    assert.ok(Buffer.from(resource.body).includes("S3CR3T"));
    const left = fromBinary(schema, hideIn(resource)) as Message & {
      typedExtensionProtocolOptions: { [key: string]: Any };
    };
    assert.ok(!Buffer.from(hideIn(resource)).includes("S3CR3T"));
    assert.equal(left.typedExtensionProtocolOptions.own?.typeUrl, "type.googleapis.com/own.Filter");
    const struct = fromBinary(StructSchema, left.typedExtensionProtocolOptions.struct?.value ?? new Uint8Array());
    assert.deepEqual(toJson(StructSchema, struct), { token: "[redacted]", n: 1 });
  });

  it("a redacted resource has the very same bytes if there is nothing to hide, and is made once", () => {
    const schema = envoyRegistry().getMessage("envoy.config.cluster.v3.Cluster") ?? assert.fail();
    const plain = createResource(create(schema, { name: "one" }));
    assert.equal(hideIn(plain), plain.body);
  });
});

function structAny(value: { [key: string]: JsonValue }): Any {
  const schema = StructSchema;
  const fields = Object.entries(value).map(([name, item]) => [name, structValue(item)]);
  const bytes = toBinary(schema, create(schema, { fields: Object.fromEntries(fields) }));
  return create(AnySchema, { typeUrl: "type.googleapis.com/google.protobuf.Struct", value: bytes });
}

function structValue(value: JsonValue): object {
  if (typeof value === "number") return { kind: { case: "numberValue", value } };
  if (typeof value === "string") return { kind: { case: "stringValue", value } };
  return { kind: { case: "structValue", value } };
}

describe("JSON", () => {
  it("redaction of JSON hides each value whose key is like a secret's, at any depth, and nothing else", () => {
    const value = {
      token_endpoint: "https://example.org",
      clientSecret: "x",
      nested: [{ "db.password": { a: ["x"], b: 1 } }, { name: "y", empty: null }],
    };
    assert.deepEqual(redactJson(value), {
      token_endpoint: "https://example.org",
      clientSecret: "[redacted]",
      nested: [{ "db.password": { a: ["[redacted]"], b: "[redacted]" } }, { name: "y", empty: null }],
    });
    assert.equal(redactJson('[{"token": "x", "a": "{b"}]'), '[{"token":"[redacted]","a":"{b"}]');
    for (const kept of ['{ "a": 1 }', "{not: json}", "[]"]) assert.equal(redactJson(kept), kept);
    const plain = { a: [1, "b"] };
    assert.equal(redactJson(plain), plain);
  });

  it("redaction of JSON knows a set of private keys from one of public keys", () => {
    const jwk = { kty: "RSA", n: "abc", e: "AQAB" };
    const text = JSON.stringify({ keys: [jwk] });
    assert.equal(redactJson(text), text);
    assert.equal(redactJson(JSON.stringify({ keys: [{ ...jwk, d: "S3CR3T" }] })), "[redacted]");
  });
});

describe("the redacted error text of a client", () => {
  it("the error text has no secret of the message that it quotes in protobuf's text format, even if the text is cut off", () => {
    const quoted =
      'one: Proto constraint validation failed (bad): tls { password { inline_string: "S3CR3T \\" S3CR3T" } ';
    const pem = 'private_key { inline_string: "-----BEGIN PRIVATE KEY-----\\nS3CR3T\\n-----END PRIVATE KEY-----\\n" } ';
    const left = redactErrorText(`${quoted}${pem}name: "kept" auth_token: "S3CR3T`);
    assert.ok(!left.includes("S3CR3T"), left);
    for (const kept of ["one: Proto", 'name: "kept"', "private_key", "password"]) assert.ok(left.includes(kept), left);
  });

  it("the error text stays as it is if it quotes no message", () => {
    const said = 'Error adding/updating cluster(s) token: unknown lb_policy (password) "x"';
    assert.equal(redactErrorText(said), said);
  });
});
