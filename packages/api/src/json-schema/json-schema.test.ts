import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Ajv, type ErrorObject } from "ajv";
import { resourceTypes } from "../resource-types/resource-types.js";
import { corpus } from "../testing/corpus/index.js";
import { fileSchema, resourceSchema } from "./resource-schema.js";

const ajv = new Ajv({ strict: false, logger: false });
const isFile = ajv.compile(fileSchema());
const cluster = {
  "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  name: "web",
  connect_timeout: "1s",
  lb_policy: "RING_HASH",
};
const wrapped = {
  "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
  name: "web",
  ttl: "5s",
  resource: cluster,
};
const reasons = (errors: readonly ErrorObject[] | null | undefined) =>
  (errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).slice(0, 5);

test("a file's schema takes every resource that the reader takes", () => {
  const refused: string[] = [];
  let count = 0;
  for (const { name, breaks, resource } of corpus()) {
    if (breaks !== undefined) continue;
    count += 1;
    if (!isFile(resource)) refused.push(`${name}: ${reasons(isFile.errors)}`);
  }
  assert.ok(count > 5_000, `${count}`);
  assert.deepEqual(refused.slice(0, 10), []);
});

test("it takes each form of a file", () => {
  for (const file of [cluster, wrapped, [cluster, wrapped], { resources: [cluster, wrapped], version_info: "1" }]) {
    assert.ok(isFile(file), JSON.stringify(reasons(isFile.errors)));
  }
  assert.ok(isFile({ ...cluster, connectTimeout: "2s" }), "the other spelling");
});

test("it refuses a misspelled field, a wrong value and a wrong type, at any depth and in each form", () => {
  const wrong: readonly JsonObject[] = [
    { ...cluster, conect_timeout: "1s" },
    { ...cluster, connect_timeout: "1 s" },
    { ...cluster, lb_policy: "RING_HAS" },
    { ...cluster, "@type": "type.googleapis.com/envoy.config.cluster.v3.Clutser" },
    { ...cluster, load_assignment: { cluster_name: "web", endpoints: [{ lb_endpoint: [] }] } },
    {
      ...cluster,
      transport_socket: {
        name: "tls",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
          sny: "web",
        },
      },
    },
    // An HTTP filter where a filter of the network must be.
    {
      "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
      name: "web",
      filter_chains: [
        {
          filters: [
            {
              name: "router",
              typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
            },
          ],
        },
      ],
    },
  ];
  for (const each of wrong) {
    for (const file of [each, [each], { resources: [each] }, { ...wrapped, resource: each }])
      assert.equal(isFile(file), false, JSON.stringify(file));
  }
});

test("each type has a schema, with the words of Envoy's documentation", () => {
  for (const { schema, name } of resourceTypes.all) {
    if (schema === undefined) continue;
    const made = resourceSchema(schema) as { readonly definitions: Readonly<Record<string, JsonObject>> };
    const own = made.definitions[schema.typeName];
    assert.ok(own !== undefined || name === "extension-config", name);
  }
  const { definitions } = resourceSchema(resourceTypes.find("cluster")?.schema ?? assert.fail()) as {
    readonly definitions: Readonly<Record<string, { readonly properties: JsonObject }>>;
  };
  assert.match(
    JSON.stringify(definitions["envoy.config.cluster.v3.Cluster"]?.properties.lb_policy),
    /load balancer type/,
  );
});
