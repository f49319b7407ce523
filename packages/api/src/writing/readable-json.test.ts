import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type Message } from "@bufbuild/protobuf";
import { type Any, AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { formatFieldPath } from "../errors/field-path.js";
import { readResources } from "../files/resource-file.js";
import { envoyRegistry } from "../registry/registry.js";
import { typesByUrl } from "../resource-types/opaque-types.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { createResource } from "../resources/resource.js";
import type { KeptAsBytes } from "../unknown/json-writer.js";
import { readableJson } from "./readable-json.js";

function message(type: string, fields: object): Message {
  const schema = envoyRegistry().getMessage(type) ?? assert.fail(type);
  return create(schema, fields as Record<string, unknown>);
}

const secretType = "envoy.extensions.transport_sockets.tls.v3.Secret";

describe("a message for people", () => {
  it("a message for people says its type first, in both spellings of fields", () => {
    const route = message("envoy.config.route.v3.RouteConfiguration", {
      name: "r",
      mostSpecificHeaderMutationsWins: true,
    });
    const type = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
    assert.deepEqual(readableJson(route), { "@type": type, name: "r", mostSpecificHeaderMutationsWins: true });
    assert.equal(Object.keys(readableJson(route))[0], "@type");
    assert.ok("most_specific_header_mutations_wins" in readableJson(route, { fieldNames: "proto" }));
  });

  it("a message for people has no secrets unless they are requested", () => {
    const value = { specifier: { case: "inlineString", value: "S3CR3T" } };
    const secret = message(secretType, { name: "s", type: { case: "genericSecret", value: { secret: value } } });
    assert.ok(!JSON.stringify(readableJson(secret)).includes("S3CR3T"));
    assert.ok(JSON.stringify(readableJson(secret, { secrets: true })).includes("S3CR3T"));
  });

  it("a message for people shows only the type of an unknown or unreadable message, unless secrets are asked for", () => {
    const anyOf = (typeUrl: string, ...value: number[]) =>
      create(AnySchema, { typeUrl, value: Uint8Array.from(value) });
    const options = {
      own: anyOf("type.googleapis.com/own.Filter", 10, 1, 65),
      broken: anyOf("type.googleapis.com/envoy.config.core.v3.Node", 255),
      garbage: anyOf("type.googleapis.com/own.Filter", 255),
      odd: anyOf("type.googleapis.com/--", 10, 1, 65),
    };
    const cluster = message("envoy.config.cluster.v3.Cluster", { name: "c", typedExtensionProtocolOptions: options });
    const form = (typeUrl: string, value: string) => ({
      "@type": "type.googleapis.com/xds.type.v3.TypedStruct",
      "@typeUrl": typeUrl,
      "@value": value,
    });
    const shownAs = (value: (any: Any) => string) =>
      Object.fromEntries(Object.entries(options).map(([name, any]) => [name, form(any.typeUrl, value(any))]));
    let leftOut = 0;
    const hidden = readableJson(cluster, {
      leftOut: () => {
        leftOut += 1;
      },
    });
    assert.deepEqual(
      hidden.typedExtensionProtocolOptions,
      shownAs(() => "[redacted]"),
    );
    assert.equal(leftOut, 1);
    const whole = readableJson(cluster, { secrets: true });
    assert.deepEqual(
      whole.typedExtensionProtocolOptions,
      shownAs(({ value }) => Buffer.from(value).toString("base64")),
    );
  });

  it("a message for people says that unknown fields exist, in messages of any depth", () => {
    const unknown = [{ no: 9_999, wireType: 2, data: Buffer.from([6, ...Buffer.from("S3CR3T")]) }];
    const address = message("envoy.config.core.v3.Address", {
      address: {
        case: "socketAddress",
        value: { address: "127.0.0.1", portSpecifier: { case: "portValue", value: 1 } },
      },
    });
    address.$unknown = unknown;
    const inner = message("envoy.config.core.v3.Node", { id: "n" });
    inner.$unknown = unknown;
    const listener = message("envoy.config.listener.v3.Listener", {
      name: "l",
      address,
      metadata: { typedFilterMetadata: { a: anyPack(nodeSchema, inner) } },
      defaultFilterChain: message("envoy.config.listener.v3.FilterChain", {}),
    });
    const kept: string[] = [];
    const options = { kept: (all: readonly KeptAsBytes[]) => kept.push(...all.map(placeOf)) };
    const hidden = JSON.stringify(readableJson(listener, options));
    assert.equal(hidden.split('"@unknown":"[redacted]"').length, 3, hidden);
    assert.ok(!hidden.includes(Buffer.from("S3CR3T").toString("base64").slice(0, 6)));
    assert.deepEqual(kept, ["address: field 9999", 'metadata.typed_filter_metadata["a"]: field 9999']);
    const read = readResources({ path: "a.json", bytes: Buffer.from(hidden) });
    assert.deepEqual(
      read.findings.map(({ code, field }) => `${code} ${field}`),
      [
        "XDSKIT_SECRET_LEFT_OUT address.@unknown",
        'XDSKIT_SECRET_LEFT_OUT metadata.typed_filter_metadata["a"].@unknown',
      ],
    );
    const whole = JSON.stringify(readableJson(listener, { secrets: true }));
    const [again] = readResources({ path: "a.json", bytes: Buffer.from(whole) }).resources;
    assert.deepEqual(again?.resource, createResource(listener));
  });
});

const nodeSchema = envoyRegistry().getMessage("envoy.config.core.v3.Node") ?? assert.fail();

function placeOf({ steps, what }: KeptAsBytes): string {
  return `${formatFieldPath(steps)}: ${what}`;
}

describe("types by their URLs", () => {
  it("types are found in the table, among other messages, and by name alone", () => {
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

  it("types must have a type's URL", () => {
    for (const url of ["own.Thing", "type.googleapis.com/", "type.googleapis.com/a b", "/own.Thing", "/", ""]) {
      assert.throws(() => typesByUrl([url]), { code: "XDSKIT_TYPE_NAME_UNKNOWN" });
    }
  });
});
