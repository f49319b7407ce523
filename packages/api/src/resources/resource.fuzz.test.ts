import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { XdskitError } from "../errors/errors.js";
import { envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { encodedAs } from "../writing/encoded-as.js";
import { type Resource, resourceFromBody } from "./resource.js";

const registry = envoyRegistry();
const extensions = "type.googleapis.com/envoy.extensions";
const hcm = `${extensions}.filters.network.http_connection_manager.v3.HttpConnectionManager`;
const tls = `${extensions}.transport_sockets.tls.v3.DownstreamTlsContext`;

const json: JsonObject = {
  name: "l",
  metadata: { filter_metadata: { a: { x: 1, y: [{ z: "w" }] }, b: {} } },
  filter_chains: [
    {
      transport_socket: {
        name: "tls",
        typed_config: {
          "@type": tls,
          common_tls_context: { tls_certificate_sds_secret_configs: [{ name: "s", sds_config: { ads: {} } }] },
        },
      },
      filters: [
        {
          name: "hcm",
          typed_config: {
            "@type": hcm,
            stat_prefix: "s",
            rds: { route_config_name: "r", config_source: { ads: {} } },
            http_filters: [
              {
                name: "router",
                typed_config: { "@type": `${extensions}.filters.http.router.v3.Router`, start_child_span: true },
              },
              {
                name: "lua",
                typed_config: { "@type": `${extensions}.filters.http.lua.v3.Lua`, source_codes: { a: {}, b: {} } },
              },
            ],
          },
        },
      ],
    },
  ],
};

const [type] = resourceTypes.all.filter((type) => type.name === "listener");
assert.ok(type?.schema);
const valid = toBinary(type.schema, fromJson(type.schema, json, { registry }));

function read(bytes: Uint8Array): Resource | undefined {
  try {
    return resourceFromBody(type as Resource["type"], bytes);
  } catch (error) {
    if (error instanceof XdskitError) return undefined;
    throw error;
  }
}

const edit = fc.record({ at: fc.nat(valid.length - 1), remove: fc.nat(3), insert: fc.uint8Array({ maxLength: 3 }) });

test("any bytes give an error with a code, or a resource whose bytes are stable", () => {
  let resources = 0;
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      let bytes = Buffer.from(valid);
      for (const { at, remove, insert } of edits) {
        bytes = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);
      }
      const resource = read(bytes);
      if (resource === undefined) return;
      resources++;
      assert.deepEqual(read(resource.body), resource);
      // Round trip: the resource for v2 clients has the same content.
      assert.deepEqual(read(encodedAs(resource, "v2").value), resource);
    }),
    { numRuns: 2000, seed: 1 },
  );
  assert.ok(resources > 100, `only ${resources} of the changed bytes were still a listener`);
});

test("endlessly nested Anys are passed through below a depth, and exhaust nothing", () => {
  const any = registry.getMessage("google.protobuf.Any");
  const config = resourceTypes.find("extension-config");
  assert.ok(any && config?.schema);
  let inner: JsonObject = { "@type": `${extensions}.filters.http.router.v3.Router` };
  for (let depth = 0; depth < 500; depth++)
    inner = { "@type": "type.googleapis.com/google.protobuf.Any", value: inner };
  const bytes = toBinary(
    config.schema,
    fromJson(config.schema, { name: "x", typed_config: inner }, { registry, recursionLimit: 2000 } as never),
  );
  const resource = resourceFromBody(config, bytes);
  assert.deepEqual(resource.body, bytes);
});
