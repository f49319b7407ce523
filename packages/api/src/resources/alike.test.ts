import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { edsCluster, grpcListener, loadAssignment, routeConfiguration } from "@xdskit/api/builders";
import fc from "fast-check";
import { times } from "../testing/effort.js";
import { resourcesAlike } from "./alike.js";
import { createResource, type Resource } from "./resource.js";

const name = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
  // Lengths at which the length before a text takes a byte more, and repeats of what a sample is made of.
  fc.integer({ min: 1, max: 300 }).map((length) => "ab".repeat(length)),
  fc.constantFrom("a", "b", "aaaa", "bbbb"),
);

const makers: Readonly<Record<string, (name: string) => Resource>> = {
  cluster: (own) => createResource(edsCluster({ name: own })),
  route: (own) => {
    const routes = [
      { prefix: "", cluster: own },
      { path: "/aaaa", cluster: "beside it" },
    ];
    return createResource(routeConfiguration({ name: own, virtualHosts: [{ name: own, routes }] }));
  },
  listener: (own) =>
    createResource(grpcListener({ name: own, routeConfigName: own, httpConnectionManager: { statPrefix: own } })),
};

describe("resources that are alike", () => {
  it("are what their messages give", () => {
    const alike = Object.entries(makers).map(([, make]) => ({ make, fast: resourcesAlike(make) }));
    fc.assert(
      fc.property(name, (one) => {
        for (const { make, fast } of alike) assert.deepEqual(fast(one), make(one));
      }),
      { numRuns: times(300) },
    );
  });

  it("name themselves as they are called, whatever the order of a context", () => {
    const make = (own: string) => createResource(edsCluster({ name: own }));
    const own = "xdstp://a/envoy.config.cluster.v3.Cluster/x?b=1&a=2";
    assert.deepEqual(resourcesAlike(make)(own), make(own));
  });

  it("are made once for each length of a name", () => {
    let made = 0;
    const fast = resourcesAlike((own) => {
      made += 1;
      return createResource(edsCluster({ name: own }));
    });
    for (const one of ["web", "api", "shop"]) fast(one);
    assert.equal(made, 4);
  });

  it("have their name as a whole, or not at all", () => {
    const refused = { name: "TypeError", message: /has a part of its name in it/ };
    const shorter = (own: string) => createResource(loadAssignment({ clusterName: own.slice(1) }));
    assert.throws(() => resourcesAlike(shorter)("web"), refused);
    const first = (own: string) => createResource(edsCluster({ name: own, altStatName: own.slice(0, 1) }));
    assert.throws(() => resourcesAlike(first)("web"), refused);
    const twice = (own: string) => createResource(edsCluster({ name: own, serviceName: `${own}/x` }));
    assert.throws(() => resourcesAlike(twice)("web"), refused);
    assert.throws(() => resourcesAlike(shorter)(""), { code: "XDSKIT_NAME_MISSING" });
    assert.throws(() => resourcesAlike((own) => createResource(edsCluster({ name: own })))("xdstp://a/b"), {
      code: "XDSKIT_NAME_XDSTP",
    });
  });
});
