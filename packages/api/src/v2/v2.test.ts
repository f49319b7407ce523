import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  create,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { type Any, AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { createUnpack } from "../messages/any.js";
import { v2TypeUrlOf, v3TypeUrlOf } from "../messages/v2-names.js";
import { typeNameOf } from "../names/identifiers.js";
import { envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { createResource } from "../resources/resource.js";
import { encodedAs } from "../writing/encoded-as.js";
import { upgradeMessage } from "./upgrade.js";

const registry = envoyRegistry();
const google = (name: string): string => `type.googleapis.com/${name}`;

function schemaOf(typeName: string): DescMessage {
  const schema = resourceTypes.find(typeName)?.schema ?? registry.getMessage(typeName);
  assert.ok(schema, typeName);
  return schema;
}

function read(typeName: string, json: JsonObject): Message {
  return fromJson(schemaOf(typeName), json, { registry });
}

const v3 = {
  hcm: "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
  router: "envoy.extensions.filters.http.router.v3.Router",
  fault: "envoy.extensions.filters.http.fault.v3.HTTPFault",
  downstreamTls: "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
  httpOptions: "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
};
const v2 = {
  hcm: "envoy.config.filter.network.http_connection_manager.v2.HttpConnectionManager",
  router: "envoy.config.filter.http.router.v2.Router",
  fault: "envoy.config.filter.http.fault.v2.HTTPFault",
  downstreamTls: "envoy.api.v2.auth.DownstreamTlsContext",
};

/** The type names of all `Any`s in a message, at any depth. */
function anysIn(message: unknown): readonly string[] {
  const unpack = createUnpack(registry);
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
    if ("$typeName" in value && value.$typeName === AnySchema.typeName) {
      const any = value as Any;
      found.push(typeNameOf(any.typeUrl));
      visit(unpack(any)?.message);
    } else for (const part of Object.values(value)) visit(part);
  };
  visit(message);
  return found.sort();
}

describe("the names of v2 and v3", () => {
  for (const [old, name] of [
    ["envoy.api.v2.Cluster", "envoy.config.cluster.v3.Cluster"],
    ["envoy.api.v2.auth.Secret", "envoy.extensions.transport_sockets.tls.v3.Secret"],
    ["envoy.api.v2.route.VirtualHost", "envoy.config.route.v3.VirtualHost"],
    [v2.hcm, v3.hcm],
    [v2.router, v3.router],
    [v2.downstreamTls, v3.downstreamTls],
    ["envoy.config.filter.http.ext_authz.v2.ExtAuthz", "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz"],
    [
      "envoy.config.filter.http.jwt_authn.v2alpha.JwtAuthentication",
      "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
    ],
    ["envoy.config.filter.network.tcp_proxy.v2.TcpProxy", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"],
    ["envoy.config.accesslog.v2.FileAccessLog", "envoy.extensions.access_loggers.file.v3.FileAccessLog"],
    [
      "envoy.config.retry.previous_priorities.PreviousPrioritiesConfig",
      "envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
    ],
  ] as const) {
    test(`the names of v2 and v3 map to each other (${name})`, () => {
      assert.equal(v3TypeUrlOf(google(old)), google(name));
      assert.equal(v2TypeUrlOf(google(name)), google(old));
    });
  }

  test("a name without a counterpart has none in the other version", () => {
    assert.equal(v3TypeUrlOf(google("envoy.api.v2.Nothing")), undefined);
    assert.equal(v3TypeUrlOf(google(v3.router)), undefined);
    assert.equal(v2TypeUrlOf(google(v3.httpOptions)), undefined);
    assert.equal(v3TypeUrlOf("constructor"), undefined);
  });
});

describe("a resource for v2", () => {
  const filter = (name: string, type: string): JsonObject => ({ name, typed_config: { "@type": google(type) } });
  const routes: JsonObject = {
    virtual_hosts: [
      { name: "v", domains: ["*"], typed_per_filter_config: { fault: { "@type": google(v3.fault), delay: {} } } },
    ],
  };
  const listener = createResource(
    read("listener", {
      name: "l",
      api_listener: {
        api_listener: {
          "@type": google(v3.hcm),
          route_config: routes,
          http_filters: [filter("envoy.filters.http.router", v3.router)],
        },
      },
    }),
  );

  test("a resource for v2 has v2 type URLs at every depth", () => {
    const encoded = encodedAs(listener, "v2");
    assert.equal(encoded.typeUrl, google("envoy.api.v2.Listener"));
    const message = fromBinary(schemaOf("listener"), encoded.value);
    assert.deepEqual(anysIn(message), [v2.fault, v2.hcm, v2.router].sort());
  });

  test("a resource for v2 is made once, and for v3 it is the body itself", () => {
    assert.equal(encodedAs(listener, "v2"), encodedAs(listener, "v2"));
    assert.equal(encodedAs(listener, "v3").value, listener.body);
    assert.deepEqual(anysIn(fromBinary(schemaOf("listener"), listener.body)), [v3.fault, v3.hcm, v3.router].sort());
  });

  test("a resource for v2 shares the body if nothing differs", () => {
    const cluster = createResource(read("cluster", { name: "c", connect_timeout: "1s" }));
    assert.deepEqual(encodedAs(cluster, "v2"), { typeUrl: google("envoy.api.v2.Cluster"), value: cluster.body });
    assert.equal(encodedAs(cluster, "v2").value, cluster.body);
  });

  test("a resource for v2 keeps parts that v2 did not have, unknown parts, and TypedStructs", () => {
    const opaque = create(AnySchema, { typeUrl: "example.com/x.Unknown", value: new Uint8Array([255]) });
    const typedStruct = { "@type": google("xds.type.v3.TypedStruct"), type_url: google(v3.router), value: { a: 1 } };
    const cluster = read("cluster", {
      name: "c",
      typed_extension_protocol_options: {
        http: { "@type": google(v3.httpOptions), explicit_http_config: { http2_protocol_options: {} } },
        struct: typedStruct,
      },
      transport_socket: { name: "tls", typed_config: { "@type": google(v3.downstreamTls) } },
    }) as Message & { typedExtensionProtocolOptions: Record<string, Any> };
    cluster.typedExtensionProtocolOptions.opaque = opaque;
    const resource = createResource(cluster);
    const encoded = fromBinary(schemaOf("cluster"), encodedAs(resource, "v2").value) as typeof cluster;
    assert.deepEqual(
      anysIn(encoded),
      [v2.downstreamTls, v3.httpOptions, "x.Unknown", "xds.type.v3.TypedStruct"].sort(),
    );
    const before = fromBinary(schemaOf("cluster"), resource.body) as typeof cluster;
    assert.deepEqual(encoded.typedExtensionProtocolOptions, before.typedExtensionProtocolOptions);
  });

  test("a type that v2 did not have is sent as v3", () => {
    const config = createResource(read("extension-config", filter("x", v3.router)));
    const { typeUrl, value } = encodedAs(config, "v2");
    assert.equal(typeUrl, google("envoy.config.core.v3.TypedExtensionConfig"));
    assert.equal(value, config.body);
  });

  test("an Any inside an Any becomes v2 too", () => {
    const router = anyPack(schemaOf(v3.router), create(schemaOf(v3.router)));
    const message = read("route", { name: "r" }) as Message & { typedPerFilterConfig: Record<string, Any> };
    message.typedPerFilterConfig.x = anyPack(AnySchema, router);
    const encoded = fromBinary(schemaOf("route"), encodedAs(createResource(message), "v2").value);
    assert.deepEqual(anysIn(encoded), [v2.router, "google.protobuf.Any"].sort());
  });

  test("weighted clusters get their total, which v2 clients take for 100", () => {
    const route = (weighted_clusters: JsonObject) =>
      createResource(
        read("route", {
          name: "r",
          virtual_hosts: [
            { name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { weighted_clusters } }] },
          ],
        }),
      );
    type Routes = {
      virtualHosts: { routes: { action: { value: { clusterSpecifier: { value: { totalWeight?: number } } } } }[] }[];
    };
    const total = (body: Uint8Array) =>
      (fromBinary(schemaOf("route"), body) as never as Routes).virtualHosts[0]?.routes[0]?.action.value.clusterSpecifier
        .value.totalWeight;
    const clusters: JsonObject[] = [{ name: "a", weight: 3 }, { name: "b", weight: 4 }, { name: "c" }];
    assert.equal(total(encodedAs(route({ clusters }), "v2").value), 7);
    assert.equal(total(route({ clusters }).body), undefined);
    assert.equal(total(encodedAs(route({ clusters, total_weight: 100 }), "v2").value), 100);
  });
});

describe("a message of v2 read as v3", () => {
  test("a v2 message that is read as v3 has v3 type URLs at every depth, and is not changed itself", () => {
    const resource = createResource(
      read("listener", {
        name: "l",
        filter_chains: [
          {
            transport_socket: { name: "tls", typed_config: { "@type": google(v3.downstreamTls) } },
            filters: [
              {
                name: "hcm",
                typed_config: {
                  "@type": google(v3.hcm),
                  http_filters: [{ name: "router", typed_config: { "@type": google(v3.router) } }],
                },
              },
            ],
          },
        ],
      }),
    );
    const old = fromBinary(schemaOf("listener"), encodedAs(resource, "v2").value);
    const before = toBinary(schemaOf("listener"), old);
    assert.deepEqual(anysIn(old), [v2.downstreamTls, v2.hcm, v2.router].sort());
    const upgraded = upgradeMessage(old);
    assert.deepEqual(toBinary(schemaOf("listener"), upgraded), resource.body);
    assert.deepEqual(toBinary(schemaOf("listener"), old), before);
    assert.deepEqual(createResource(old), resource);
  });

  test("a message that was v3 already is the same object", () => {
    const message = read("cluster", { name: "c", connect_timeout: "1s" });
    assert.equal(upgradeMessage(message), message);
  });
});
