import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import {
  create,
  type DescMessage,
  equals,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  type Any,
  anyPack,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { LbEndpointSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import fc from "fast-check";
import { createRegistry, envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { times } from "../testing/effort.js";
import { createResource, resourceFromBody } from "./resource.js";

const registry = envoyRegistry();

function read(typeName: string, json: JsonObject): Message {
  return fromJson(schemaNamed(typeName), json, { registry });
}

function schemaNamed(typeName: string): DescMessage {
  const schema = resourceTypes.find(typeName)?.schema ?? registry.getMessage(typeName);
  assert.ok(schema, typeName);
  return schema;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("a resource of a message", () => {
  test("a resource has its type, name, bytes and references", () => {
    const message = create(ClusterSchema, {
      name: "web",
      clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.EDS },
      edsClusterConfig: { edsConfig: { configSourceSpecifier: { case: "ads", value: {} } }, serviceName: "backend" },
    });
    const resource = createResource(message);
    assert.equal(resource.type, resourceTypes.find("cluster"));
    assert.equal(resource.name, "web");
    assert.deepEqual(fromBinary(ClusterSchema, resource.body), message);
    assert.deepEqual(resource.references, [
      { type: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", name: "backend" },
    ]);
    assert.match(resource.version, /^[\w-]{16}$/);
    assert.deepEqual([resource.aliases, resource.ttl], [[], undefined]);
  });

  test("a resource is the same whether the message comes from a generated module, a registry or bytes", () => {
    const generated = createResource(create(ClusterSchema, { name: "web", connectTimeout: { seconds: 1n } }));
    const dynamic = createResource(read("cluster", { name: "web", connect_timeout: "1s" }));
    const bytes = resourceFromBody(generated.type, generated.body);
    assert.deepEqual(dynamic, generated);
    assert.deepEqual(bytes, generated);
  });

  test("a resource takes a given name if the message has none or another", () => {
    const name = "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/web/1";
    assert.equal(createResource(create(LbEndpointSchema), { name }).name, name);
    const host = read("virtual-host", { name: "example.com", domains: ["example.com"] });
    assert.equal(createResource(host, { name: "r/example.com" }).name, "r/example.com");
  });

  test("a virtual host is also found with its host in small letters", () => {
    const host = read("virtual-host", { name: "x", domains: ["x"] });
    const aliasesOf = (name: string, ...aliases: readonly string[]) => createResource(host, { name, aliases }).aliases;
    assert.deepEqual(aliasesOf("Routes/a.com"), []);
    assert.deepEqual(aliasesOf("Routes/A.com:80"), ["Routes/a.com:80"]);
    assert.deepEqual(aliasesOf("r/a.com", "r/B.com", "r/A.com"), ["r/B.com", "r/A.com", "r/b.com"]);
    const named = read("cluster", { name: "A" });
    assert.deepEqual(createResource(named).aliases, []);
  });

  test("a resource turns v2 inside into v3", () => {
    const router = read("envoy.extensions.filters.http.router.v3.Router", { suppress_envoy_headers: true });
    const v3 = anyPack(schemaNamed(router.$typeName), router);
    const v2: Any = { ...v3, typeUrl: "type.googleapis.com/envoy.config.filter.http.router.v2.Router" };
    const resources = [v3, v2].map((any) => {
      const config = { name: "router", typedConfig: any };
      return createResource(create(schemaNamed("extension-config"), config));
    });
    assert.deepEqual(resources[1], resources[0]);
  });

  for (const [what, message, options, code] of [
    ["a message that is no resource", read("envoy.config.route.v3.Route", {}), {}, "XDSKIT_TYPE_UNKNOWN"],
    ["an empty name", create(ClusterSchema), {}, "XDSKIT_NAME_MISSING"],
    ["a type without names", create(LbEndpointSchema), {}, "XDSKIT_NAME_MISSING"],
    ["a TTL of nothing", create(ClusterSchema, { name: "web" }), { ttl: 0 }, "XDSKIT_TTL"],
    ["a TTL that is no number", create(ClusterSchema, { name: "web" }), { ttl: Number.NaN }, "XDSKIT_TTL"],
    [
      "a fraction for an integer",
      create(ClusterSchema, { name: "web", perConnectionBufferLimitBytes: 1.5 }),
      {},
      "XDSKIT_MESSAGE_INVALID",
    ],
  ] as const) {
    test(`a resource is refused with ${code} (${what})`, () => {
      assert.throws(() => createResource(message, options), { name: "XdskitError", code });
    });
  }

  test("a resource is refused for a field that cannot be written, with its name and without its value", () => {
    const message = create(ClusterSchema, { name: "web", dnsRefreshRate: { nanos: "hunter2" as never } });
    assert.throws(
      () => createResource(message),
      (error: Error) => error.message.includes("Duration.nanos") && !inspect(error).includes("hunter2"),
    );
  });

  test("a resource is refused for broken bytes, which are not shown", () => {
    const secret = resourceTypes.find("secret");
    assert.ok(secret);
    const bytes = Buffer.from("\u000a\u0064hunter2");
    assert.throws(
      () => resourceFromBody(secret, bytes, { name: "s" }),
      (error: Error) => /XDSKIT_SYNTAX/.test(error.message) && !inspect(error).includes("hunter2"),
    );
  });
});

describe("a resource with the user's own registry", () => {
  /** `message Mine { SdsSecretConfig secret = 1; }`, and `message Old { required int32 id = 1; }` of proto2. */
  const mine = createRegistry({
    descriptorSets: [
      toBinary(
        FileDescriptorSetSchema,
        create(FileDescriptorSetSchema, {
          file: [
            {
              name: "mine.proto",
              package: "example",
              syntax: "proto3",
              dependency: ["envoy/extensions/transport_sockets/tls/v3/secret.proto"],
              messageType: [
                {
                  name: "Mine",
                  field: [
                    {
                      name: "secret",
                      number: 1,
                      label: FieldDescriptorProto_Label.OPTIONAL,
                      type: FieldDescriptorProto_Type.MESSAGE,
                      typeName: ".envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig",
                    },
                  ],
                },
              ],
            },
            {
              name: "old.proto",
              package: "example",
              syntax: "proto2",
              messageType: [
                {
                  name: "Old",
                  field: [
                    {
                      name: "id",
                      number: 1,
                      label: FieldDescriptorProto_Label.REQUIRED,
                      type: FieldDescriptorProto_Type.INT32,
                    },
                  ],
                },
              ],
            },
          ],
        }),
      ),
    ],
  });
  const filter = (typedConfig: Any) => create(schemaNamed("extension-config"), { name: "x", typedConfig } as never);

  test("references inside the user's messages are found", () => {
    const json = { "@type": "type.googleapis.com/example.Mine", secret: { name: "s", sds_config: { ads: {} } } };
    const config = fromJson(schemaNamed("extension-config"), { name: "x", typed_config: json }, { registry: mine });
    assert.deepEqual(createResource(config, { registry: mine }).references, [
      { type: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", name: "s" },
    ]);
    assert.deepEqual(createResource(config).references, []);
  });

  test("a message that can be read but not written is passed through", () => {
    const typeUrl = "type.googleapis.com/example.Old";
    const config = filter({ $typeName: "google.protobuf.Any", typeUrl, value: new Uint8Array() });
    const { body } = createResource(config, { registry: mine });
    assert.deepEqual(fromBinary(schemaNamed("extension-config"), body), config);
  });
});

describe("the version of a resource (rules 8, 82)", () => {
  const lua = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";
  const codes = { a: { inline_string: "a" }, b: { inline_string: "b" }, "10": { inline_string: "c" } };
  /** A listener with maps in all kinds of places, with keys in the given order. */
  const listener = (order: (keys: readonly string[]) => readonly string[]): Message => {
    const shuffled = (record: JsonObject): JsonObject =>
      Object.fromEntries(order(Object.keys(record)).map((key) => [key, record[key] ?? null]));
    const filter = { "@type": lua, source_codes: shuffled(codes) };
    const http_filters = [{ name: "lua", typed_config: filter }];
    const hcm = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    const route_config = {
      virtual_hosts: [{ name: "v", domains: ["*"], typed_per_filter_config: shuffled({ x: filter, y: filter }) }],
    };
    const struct = shuffled({ p: shuffled({ q: 1, r: [shuffled({ s: 1, t: 2 })] }), u: true });
    return read("listener", {
      name: "l",
      metadata: { filter_metadata: shuffled({ one: struct, two: struct }) },
      filter_chains: [
        { filters: [{ name: "hcm", typed_config: { "@type": hcm, stat_prefix: "h", http_filters, route_config } }] },
      ],
    });
  };

  test("the version does not depend on the order of maps, inside Structs and Anys too", () => {
    const one = createResource(listener((keys) => keys));
    const two = createResource(listener((keys) => [...keys].reverse()));
    assert.equal(hex(two.body), hex(one.body));
    assert.equal(two.version, one.version);
  });

  test("the version is the same for every order of a map's keys, and nothing is lost", () => {
    const keys = fc.uniqueArray(
      fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "1", "10", "-1", "")),
    );
    fc.assert(
      fc.property(keys, fc.infiniteStream(fc.nat()), (keys, random) => {
        const shuffled = [...keys].sort(() => ((random.next().value ?? 0) % 3) - 1);
        const of = (order: readonly string[]) =>
          createResource(
            create(schemaNamed("cluster"), {
              name: "c",
              metadata: { filterMetadata: Object.fromEntries(order.map((key) => [key, { key }])) },
            } as never),
          );
        const [one, two] = [of(keys), of(shuffled)];
        assert.equal(hex(one.body), hex(two.body));
        const { metadata } = fromBinary(ClusterSchema, one.body);
        assert.deepEqual(new Set(Object.keys(metadata?.filterMetadata ?? {})), new Set(keys));
      }),
      { numRuns: times(100) },
    );
  });

  test("the version stays the same when the bytes are read again", () => {
    const resource = createResource(listener((keys) => keys));
    const again = resourceFromBody(resource.type, resource.body);
    assert.equal(hex(again.body), hex(resource.body));
    const schema = schemaNamed("listener");
    const message = fromBinary(schema, resource.body);
    assert.deepEqual(
      toJson(schema, message, { registry }),
      toJson(
        schema,
        listener((keys) => keys),
        { registry },
      ),
    );
  });

  test("the version is computed without a change of the given message", () => {
    const message = listener((keys) => [...keys].reverse());
    const before = toBinary(schemaNamed("listener"), message);
    createResource(message);
    assert.equal(hex(toBinary(schemaNamed("listener"), message)), hex(before));
    assert.ok(equals(schemaNamed("listener"), message, fromBinary(schemaNamed("listener"), before)));
  });

  test("the version depends on aliases and TTL, but not on the order of aliases", () => {
    const message = create(ClusterSchema, { name: "web" });
    const versions = [
      {},
      { ttl: 1000 },
      { ttl: 2000 },
      { aliases: ["a"] },
      { aliases: ["a", "b"] },
      { aliases: ["a", "b"], ttl: 1000 },
    ].map((options) => createResource(message, options).version);
    assert.equal(new Set(versions).size, versions.length);
    const [one, two] = [
      ["a", "b"],
      ["b", "a", "b"],
    ].map((aliases) => createResource(message, { aliases }));
    assert.equal(two?.version, one?.version);
    assert.deepEqual(two?.aliases, ["b", "a"]);
  });

  test("the version covers unknown parts, which are kept", () => {
    const unknown = Buffer.concat([
      createResource(create(ClusterSchema, { name: "web" })).body,
      Buffer.from("fa7f03616263", "hex"),
    ]);
    const type = resourceTypes.find("cluster");
    assert.ok(type);
    assert.equal(hex(resourceFromBody(type, unknown).body), hex(unknown));
    const opaque: Any = {
      $typeName: "google.protobuf.Any",
      typeUrl: "type.googleapis.com/example.X",
      value: new Uint8Array([1, 2]),
    };
    const config = create(schemaNamed("extension-config"), { name: "x", typedConfig: opaque } as never);
    const { body } = createResource(config);
    assert.deepEqual(fromBinary(schemaNamed("extension-config"), body), config);
  });

  test("the version is the same in every release: a change would resend everything to everybody", () => {
    assert.equal(createResource(create(ClusterSchema, { name: "web" })).version, "LXuoMjDtjRFOk-cO");
  });
});
