import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type Message } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "./errors.js";
import { typesByUrl } from "./opaque-types.js";
import { readableJson } from "./readable-json.js";
import { envoyRegistry } from "./registry.js";
import { resourceTypes } from "./resource-types/resource-types.js";

function message(type: string, fields: object): Message {
  const schema = envoyRegistry().getMessage(type) ?? assert.fail(type);
  return create(schema, fields as Record<string, unknown>);
}

const secretType = "envoy.extensions.transport_sockets.tls.v3.Secret";

describe("a message for people", () => {
  it("says its type first, in both spellings of fields", () => {
    const route = message("envoy.config.route.v3.RouteConfiguration", {
      name: "r",
      mostSpecificHeaderMutationsWins: true,
    });
    const type = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
    assert.deepEqual(readableJson(route), { "@type": type, name: "r", mostSpecificHeaderMutationsWins: true });
    assert.equal(Object.keys(readableJson(route))[0], "@type");
    assert.ok("most_specific_header_mutations_wins" in readableJson(route, { fieldNames: "proto" }));
  });

  it("has no secrets, but where they are asked for", () => {
    const value = { specifier: { case: "inlineString", value: "S3CR3T" } };
    const secret = message(secretType, { name: "s", type: { case: "genericSecret", value: { secret: value } } });
    assert.ok(!JSON.stringify(readableJson(secret)).includes("S3CR3T"));
    assert.ok(JSON.stringify(readableJson(secret, { secrets: true })).includes("S3CR3T"));
  });

  it("shows the type of what it does not know or cannot read, and nothing of it", () => {
    const anyOf = (typeUrl: string, ...value: number[]) =>
      create(AnySchema, { typeUrl, value: Uint8Array.from(value) });
    const options = {
      own: anyOf("type.googleapis.com/own.Filter", 10, 1, 65),
      broken: anyOf("type.googleapis.com/envoy.config.core.v3.Node", 255),
      garbage: anyOf("type.googleapis.com/own.Filter", 255),
      odd: anyOf("type.googleapis.com/--", 10, 1, 65),
    };
    const { own, broken, garbage } = options;
    const cluster = (typedExtensionProtocolOptions: object) =>
      message("envoy.config.cluster.v3.Cluster", { name: "c", typedExtensionProtocolOptions });
    for (const secrets of [false, true]) {
      const shown = readableJson(cluster({ own, broken, garbage }), { secrets }).typedExtensionProtocolOptions;
      const node = { "@type": broken.typeUrl };
      assert.deepEqual(shown, { own: { "@type": own.typeUrl }, broken: node, garbage: { "@type": own.typeUrl } });
      assert.throws(() => readableJson(cluster(options), { secrets }), XdskitError);
    }
  });
});

describe("types by their URLs", () => {
  it("are those of the table, those of other messages, and those of which only the name is known", () => {
    const cluster = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const node = "type.googleapis.com/envoy.config.core.v3.Node";
    const own = "type.googleapis.com/own.Thing";
    const debug = "istio.io/debug/syncz";
    const types = typesByUrl([cluster, own, node, own, debug]);
    assert.equal(types.find(cluster)?.name, "cluster");
    assert.equal(types.find(node)?.schema, envoyRegistry().getMessage("envoy.config.core.v3.Node"));
    for (const url of [own, debug]) {
      const { name, typeUrl, anyContent, schema } = types.find(url) ?? assert.fail();
      assert.deepEqual([name, typeUrl, anyContent, schema], [url, url, true, undefined]);
    }
    assert.equal(types.all.length, resourceTypes.all.length + 3);
  });

  it("must be URLs of types", () => {
    for (const url of ["own.Thing", "type.googleapis.com/", "type.googleapis.com/a b", "/own.Thing", "/", ""]) {
      assert.throws(() => typesByUrl([url]), { code: "XDSKIT_TYPE_NAME_UNKNOWN" });
    }
  });
});
