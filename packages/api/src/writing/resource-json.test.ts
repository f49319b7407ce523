import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromJson, type JsonObject, type MessageInitShape, toBinary, toJson } from "@bufbuild/protobuf";
import { type Any, AnySchema, StructSchema } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "../errors/errors.js";
import { formatFieldPath } from "../errors/field-path.js";
import { readResources } from "../files/resource-file.js";
import { parseJsonText } from "../json/json-text.js";
import { envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { createResource, type Resource, resourceFromBody } from "../resources/resource.js";
import { v2Registry } from "../v2/v2-registry.js";
import { encodedAs } from "./encoded-as.js";
import { createResourceJson } from "./resource-json.js";

const registry = envoyRegistry();
const manager = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** A listener with a message in it, and one in that. */
function listener(filter: JsonObject): Resource {
  const schema = resourceTypes.find("listener")?.schema;
  assert.ok(schema);
  const typed_config = {
    "@type": `type.googleapis.com/${manager}`,
    stat_prefix: "in",
    http_filters: [{ name: "router", typed_config: filter }],
  };
  const json = { name: "l", filter_chains: [{ filters: [{ name: "hcm", typed_config }] }] };
  return createResource(fromJson(schema, json, { registry }));
}

const router = { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" };
const parse = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString());

describe("a resource as JSON", () => {
  it("a resource as JSON says its type, and that of every message in it, first", () => {
    const json = createResourceJson();
    assert.deepEqual(parse(json(listener(router), "v3")), {
      "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
      name: "l",
      filterChains: [
        {
          filters: [
            {
              name: "hcm",
              typedConfig: {
                "@type": `type.googleapis.com/${manager}`,
                statPrefix: "in",
                httpFilters: [{ name: "router", typedConfig: router }],
              },
            },
          ],
        },
      ],
    });
    assert.match(Buffer.from(json(listener(router), "v3")).toString(), /^\{"@type":/);
  });

  it("a resource for v2 clients is written as it is sent to them", () => {
    const resource = listener(router);
    const text = Buffer.from(createResourceJson()(resource, "v2")).toString();
    assert.doesNotMatch(text, /\.v3\./);
    const any = fromJson(AnySchema, JSON.parse(text), { registry: v2Registry() });
    const { typeUrl, value } = encodedAs(resource, "v2");
    assert.deepEqual({ typeUrl: any.typeUrl, value: Buffer.from(any.value) }, { typeUrl, value: Buffer.from(value) });
    assert.equal(typeUrl, "type.googleapis.com/envoy.api.v2.Listener");
  });

  it("a resource as JSON reads back to the same bytes", () => {
    const resource = listener(router);
    const any: Any = fromJson(AnySchema, parse(createResourceJson()(resource, "v3")), { registry });
    assert.deepEqual(Buffer.from(any.value), Buffer.from(resource.body));
    assert.ok(toJson(AnySchema, any, { registry }));
  });

  it("the JSON of a resource is written once", () => {
    const json = createResourceJson();
    const resource = listener(router);
    assert.equal(json(resource, "v3"), json(resource, "v3"));
    assert.equal(json(resource, "v2"), json(resource, "v2"));
    assert.notEqual(json(resource, "v2"), json(resource, "v3"));
  });

  it("an unknown message is written in base64, is told once, and is read back", () => {
    // example.Unknown instead of the router: bytes as in a .pb file.
    const any = fromJson(AnySchema, router, { registry });
    const known = listener(router);
    const from = Buffer.from(any.typeUrl);
    const to = Buffer.from("type.googleapis.com/example.Unknown".padEnd(from.length, "x"));
    const body = Buffer.from(known.body);
    to.copy(body, body.indexOf(from));
    const resource = resourceFromBody(known.type, body);
    const said: string[] = [];
    const json = createResourceJson(undefined, ({ name }, api, kept) => {
      said.push(...kept.map(({ steps, what }) => `${name} ${api} ${formatFieldPath(steps)}: ${what}`));
    });
    const bytes = json(resource, "v3");
    assert.equal(json(resource, "v3"), bytes);
    const place = "filter_chains[0].filters[0].typed_config.http_filters[0].typed_config";
    assert.deepEqual(said, [`l v3 ${place}: the content (${to.toString().replace("type.googleapis.com/", "")})`]);
    const { resources } = readResources({ path: "a.json", bytes }, { validate: false });
    assert.deepEqual(resources[0]?.resource, resource);
  });

  it("a resource that JSON cannot express is refused each time, with the fault and its place", () => {
    const type = resourceTypes.find("cluster");
    assert.ok(type?.schema);
    const struct = { fields: { x: { kind: { case: "numberValue", value: Number.NaN } } } };
    const content = toBinary(StructSchema, create(StructSchema, struct as MessageInitShape<typeof StructSchema>));
    const filter_metadata = Buffer.concat([Buffer.from([10, 1, 97, 18, content.length]), content]);
    const metadata = Buffer.concat([Buffer.from([10, filter_metadata.length]), filter_metadata]);
    // The name, and metadata (25).
    const resource = resourceFromBody(
      type,
      Buffer.concat([Buffer.from([10, 1, 99, 202, 1, metadata.length]), metadata]),
    );
    const json = createResourceJson();
    for (let time = 0; time < 2; time++) {
      assert.throws(
        () => json(resource, "v3"),
        (error) => error instanceof XdskitError && /^cluster "c": cannot be written/.test(error.message),
      );
    }
  });
});

describe("a JSON text", () => {
  it("a JSON text is read, or refused with the reason", () => {
    assert.deepEqual(parseJsonText('{"a": [1]}'), { kind: "value", value: { a: [1] } });
    assert.deepEqual(parseJsonText('{\n  "a": tru\n}'), {
      kind: "problem",
      line: 2,
      column: 8,
      message: "expected a value, found a word without quotes",
    });
    for (const text of ["", "[".repeat(100_000), '{"a":1}}', "nul", '"\u0001"']) {
      assert.equal(parseJsonText(text).kind, "problem", text.slice(0, 20));
    }
  });
});
