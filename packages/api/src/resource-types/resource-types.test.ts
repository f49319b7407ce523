import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { v2TypeUrlOf } from "../messages/v2-names.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import { isListType } from "../names/xdstp.js";
import { envoyRegistry } from "../registry/registry.js";
import type { DiscoveryService } from "./resource-type.js";
import { lookedUp, resourceTypes, unknownResourceType } from "./resource-types.js";

const registry = envoyRegistry();

function methodNames(service: DiscoveryService): readonly string[] {
  return [service.stream, service.delta, service.fetch].filter((name) => name !== undefined).sort();
}

/** `/v3/discovery:clusters`, as the proto says. */
function postPathOf(method: DescMethod | undefined): unknown {
  const http = registry.getExtension("google.api.http");
  assert.ok(http);
  if (method === undefined || !hasOption(method, http)) return undefined;
  const { pattern } = getOption(method, http) as { pattern?: { case?: string; value?: unknown } };
  return pattern?.case === "post" ? pattern.value : undefined;
}

describe("a row of the table of types", () => {
  for (const type of resourceTypes) {
    test(`a row agrees with the protos (${type.name})`, () => {
      assert.equal(type.schema?.typeName, type.typeUrl.slice(typeUrlPrefix.length));
      const { v3, v2 } = type.services;
      if (isListType(type.typeUrl)) {
        assert.deepEqual([v3, v2, type.restPath], [undefined, undefined, undefined]);
        return;
      }
      assert.ok(v3);
      const service = registry.getService(v3.service);
      assert.ok(service, `${v3.service} does not exist`);
      assert.deepEqual(methodNames(v3), service.methods.map((method) => method.name).sort());
      for (const method of service.methods) {
        assert.equal(method.methodKind, method.name === v3.fetch ? "unary" : "bidi_streaming");
        assert.equal(method.input.typeName.includes("Delta"), method.name === v3.delta);
      }
      const fetch = service.methods.find((method) => method.name === v3.fetch);
      const path = type.restPath === undefined ? undefined : `/v3/discovery:${type.restPath}`;
      assert.equal(path, postPathOf(fetch));
      if (type.v2TypeUrl !== undefined) assert.equal(type.v2TypeUrl, v2TypeUrlOf(type.typeUrl));
      assert.equal(v2 === undefined, type.v2TypeUrl === undefined);
      if (v2 !== undefined) assert.deepEqual(methodNames(v2), methodNames(v3));
    });
  }
});

test("types come in the order in which they are delivered (rules 117, 119)", () => {
  const order = [...resourceTypes].map((type) => type.abbreviation);
  const lists = ["cluster-collection", "listener-collection"];
  const endpoints = ["eds", "leds", "locality-endpoint-collection"];
  assert.deepEqual(order, ["rtds", "sds", "cds", ...endpoints, "ecds", "lds", "srds", "rds", "vhds", ...lists]);
  assert.deepEqual(
    [...resourceTypes].map((type) => type.deliveryOrder),
    order.map((_, index) => index),
  );
});

test("LDS, CDS and SRDS are wildcard, full-state types; no other is", () => {
  const names = (select: (type: (typeof resourceTypes.all)[number]) => boolean) =>
    resourceTypes.all.filter(select).map((type) => type.abbreviation);
  assert.deepEqual(
    names((type) => type.emptyFirstRequest === "wildcard"),
    ["cds", "lds", "srds"],
  );
  assert.deepEqual(
    names((type) => type.fullState),
    ["cds", "lds", "srds"],
  );
  assert.deepEqual(
    names((type) => type.absence === "unresolved"),
    ["vhds"],
  );
  assert.deepEqual(
    [...resourceTypes]
      .filter(({ warmedBy }) => warmedBy.length > 0)
      .map(({ abbreviation, warmedBy }) => [abbreviation, warmedBy]),
    [
      ["cds", ["type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"]],
      ["rds", ["type.googleapis.com/envoy.config.route.v3.VirtualHost"]],
    ],
  );
});

test("services of v2 are named as Envoy 1.16 and its clients name them", () => {
  const served = resourceTypes.all.filter(({ services }) => services.v3 !== undefined);
  const services = Object.fromEntries(served.map((type) => [type.abbreviation, type.services.v2?.service]));
  assert.deepEqual(services, {
    rtds: "envoy.service.discovery.v2.RuntimeDiscoveryService",
    sds: "envoy.service.discovery.v2.SecretDiscoveryService",
    cds: "envoy.api.v2.ClusterDiscoveryService",
    eds: "envoy.api.v2.EndpointDiscoveryService",
    leds: undefined,
    ecds: undefined,
    lds: "envoy.api.v2.ListenerDiscoveryService",
    srds: "envoy.api.v2.ScopedRoutesDiscoveryService",
    rds: "envoy.api.v2.RouteDiscoveryService",
    vhds: "envoy.api.v2.VirtualHostDiscoveryService",
  });
});

test("a type is found by every name that people use for it", () => {
  for (const [spelling, name] of [
    ["cluster", "cluster"],
    ["Clusters", "cluster"],
    ["CDS", "cluster"],
    ["eds", "endpoint"],
    ["extension_configs", "extension-config"],
    ["extension-configs", "extension-config"],
    ["scoped-routes", "scoped-route"],
    ["virtual-hosts", "virtual-host"],
    ["runtime", "runtime"],
    ["secrets", "secret"],
    ["type.googleapis.com/envoy.api.v2.auth.Secret", "secret"],
    ["type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "route"],
  ] as const) {
    assert.equal(resourceTypes.find(spelling)?.name, name, spelling);
  }
  assert.equal(resourceTypes.find("clutser"), undefined);
  assert.equal(resourceTypes.find("constructor"), undefined);
});

test("a full name is found as it is spelled, and no other spelling takes its place", () => {
  const named = (name: string, abbreviation = name, restPath?: string) => ({
    ...unknownResourceType(`${typeUrlPrefix}${name}`),
    name,
    abbreviation,
    restPath,
  });
  const names = ["my_pkg.v1.Service", "pkg.Services", "pkg.Service", "pkg.Thing", "pkg.thing"];
  const short = [named("first", "pkg.Service", "pkg.Thing"), named("last", "first")];
  for (const table of [
    [...names.map((name) => named(name)), ...short],
    [...short, ...names.map((name) => named(name))],
  ]) {
    const types = lookedUp(table);
    for (const name of [...names, "first", "last"]) assert.equal(types.find(name)?.name, name);
    for (const word of ["MY_PKG.V1.SERVICE", "my-pkg.v1.service", "my_pkg.v1.Services"])
      assert.equal(types.find(word)?.name, "my_pkg.v1.Service");
  }
});

test("a type URL says which version of the API is meant", () => {
  const { v2TypeUrl, typeUrl } = resourceTypes.find("cluster") ?? {};
  assert.ok(typeUrl && v2TypeUrl);
  assert.equal(resourceTypes.byTypeUrl(typeUrl)?.api, "v3");
  assert.equal(resourceTypes.byTypeUrl(v2TypeUrl)?.api, "v2");
  assert.equal(resourceTypes.byTypeUrl("cluster"), undefined);
});

test("a type that is not known has no resources and comes last (rule 161)", () => {
  const type = unknownResourceType("type.googleapis.com/example.Thing");
  assert.equal(type.typeUrl, "type.googleapis.com/example.Thing");
  assert.equal(type.schema, undefined);
  assert.equal(type.emptyFirstRequest, "nothing");
  assert.ok(resourceTypes.all.every((known) => known.deliveryOrder < type.deliveryOrder));
});
