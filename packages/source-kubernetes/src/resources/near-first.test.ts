import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry, holdsFor, type Resource, readBody, validateMessage } from "@xdskit/api";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { readEndpointSlice } from "../objects/endpoint-slice.js";
import { readService } from "../objects/service.js";
import { ServiceTable } from "./service-table.js";

const cart = (trafficDistribution?: string, annotations: Readonly<Record<string, string>> = {}) => ({
  metadata: { namespace: "shop", name: "cart", annotations },
  spec: { ports: [{ port: 80 }], trafficDistribution },
});

interface Place {
  readonly zone?: string;
  readonly nodeName?: string;
  readonly hints?: object;
}

/** A slice of these pods, whose addresses end with 1, 2 and so on. */
const slice = (...places: readonly Place[]) => ({
  metadata: { namespace: "shop", name: "cart-1", labels: { "kubernetes.io/service-name": "cart" } },
  addressType: "IPv4",
  ports: [{ port: 9000 }],
  endpoints: places.map((place, index) => ({ addresses: [`10.0.0.${index + 1}`], ...place })),
});

const forZones = (...names: readonly string[]) => ({ forZones: names.map((name) => ({ name })) });

/** The load assignments of the Service, by what clients at some place get. */
class Assignments {
  readonly #table = new ServiceTable();
  readonly #resources = new Map<string, Resource>();

  put(service: ReturnType<typeof cart>, slices: ReturnType<typeof slice>): this {
    this.#table.setService("shop/cart", readService(service));
    return this.putSlice(slices);
  }

  putSlice(slices: ReturnType<typeof slice>): this {
    this.#table.setSlice("shop/cart-1", undefined, readEndpointSlice(slices));
    const steps = this.#table.take();
    let step = steps.next();
    while (!step.done) step = steps.next();
    for (const { type, name } of step.value.remove) this.#resources.delete(`${type.name} ${name}`);
    for (const one of step.value.upsert) this.#resources.set(`${one.type.name} ${one.key}`, one);
    return this;
  }

  get all(): readonly Resource[] {
    return [...this.#resources.values()].filter(({ type }) => type.name === "endpoint");
  }

  faults(): readonly string[] {
    return Array.from(this.#table.faults, ({ field, message }) => `${field}: ${message}`);
  }

  /** `PRIORITY ZONE[/PART]: ADDRESSES`, as a client gets it from a server with `localityTypes`. */
  seenFrom(zone?: string, node?: string): readonly string[] {
    const place = Object.entries({ zone, sub_zone: node }).filter(([, value]) => value !== undefined);
    const parameters = new Map(place.map(([key, value]) => [`xds.node.locality.${key}`, value ?? ""]));
    // Point 10 of docs/naming.md.
    const [first] = this.all
      .filter(({ variant }) => variant === undefined || holdsFor(variant.constraints, parameters))
      .sort((a, b) => ((a.variant?.text ?? "~") < (b.variant?.text ?? "~") ? -1 : 1));
    assert.ok(first);
    return fromBinary(ClusterLoadAssignmentSchema, first.body).endpoints.map(({ priority, locality, lbEndpoints }) => {
      const last = lbEndpoints.map(({ hostIdentifier: { value } }) => {
        const socket = typeof value === "object" ? value.address?.address.value : undefined;
        return socket?.$typeName === "envoy.config.core.v3.SocketAddress" ? socket.address.slice(7) : "?";
      });
      const part = locality?.subZone === "" ? "" : `/${locality?.subZone}`;
      return `${priority} ${locality?.zone}${part}: ${last.join(" ")}`;
    });
  }
}

const inThree = [{ zone: "a" }, { zone: "b" }, { zone: "a" }, { zone: "c" }];

describe("near pods first", () => {
  it("are called by clients of their zone, and the others only if these fail", () => {
    for (const word of ["PreferClose", "PreferSameZone"]) {
      const seen = new Assignments().put(cart(word), slice(...inThree));
      assert.deepEqual(seen.seenFrom("a"), ["0 a: 1 3", "1 b: 2", "1 c: 4"]);
      assert.deepEqual(seen.seenFrom("c", "n"), ["0 c: 4", "1 a: 1 3", "1 b: 2"]);
      const alike = ["0 a: 1 3", "0 b: 2", "0 c: 4"];
      assert.deepEqual(seen.seenFrom(), alike);
      // No pod is there.
      assert.deepEqual(seen.seenFrom("d"), alike);
    }
  });

  it("are nobody's wish without a word of the Service or its slices", () => {
    const seen = new Assignments().put(cart(), slice(...inThree));
    assert.equal(seen.all.length, 1);
    assert.deepEqual(seen.seenFrom("a"), ["0 a: 1 3", "0 b: 2", "0 c: 4"]);
  });

  it("are those of the hints, which may name another zone, but only if each pod has one", () => {
    const hinted = [
      { zone: "a", hints: forZones("a") },
      { zone: "b", hints: forZones("b", "c") },
      { zone: "b", hints: forZones("a") },
    ];
    const seen = new Assignments().put(cart(), slice(...hinted));
    // The rest of a zone has a name of its own: some clients know a locality once.
    assert.deepEqual(seen.seenFrom("a"), ["0 a: 1", "0 b: 3", "1 b/rest-1: 2"]);
    assert.deepEqual(seen.seenFrom("c"), ["0 b: 2", "1 a: 1", "1 b/rest-1: 3"]);
    seen.putSlice(slice(...hinted, { zone: "b" }));
    assert.equal(seen.all.length, 1);
  });

  it("are those of the same node, then of its zone", () => {
    const places = [
      { zone: "a", nodeName: "a1" },
      { zone: "a", nodeName: "a2" },
      { zone: "b", nodeName: "b1" },
    ];
    const seen = new Assignments().put(cart("PreferSameNode"), slice(...places));
    assert.deepEqual(seen.seenFrom("a", "a2"), ["0 a: 2", "1 a/rest-1: 1", "2 b: 3"]);
    assert.deepEqual(seen.seenFrom("a", "a3"), ["0 a: 1 2", "1 b: 3"]);
    assert.deepEqual(seen.seenFrom(undefined, "b1"), ["0 b: 3", "1 a: 1 2"]);
  });

  it("are those of the same zone where there are too many nodes, which is told", () => {
    const places = Array.from({ length: 101 }, (_, index) => ({
      zone: index === 0 ? "a" : "b",
      nodeName: `n${index}`,
    }));
    const seen = new Assignments().put(cart("PreferSameNode"), slice(...places));
    assert.equal(seen.all.length, 3);
    assert.equal(seen.seenFrom("a", "n0")[0], "0 a: 1");
    assert.match(seen.faults().join(), /^spec\.trafficDistribution: its pods are on more than 100 nodes: clients/);
    seen.putSlice(slice(...places.slice(1)));
    assert.deepEqual(seen.faults(), []);
  });

  it("are what an annotation says, whatever the field does", () => {
    const failover = (value: string) => ({ "xdskit.github.io/locality-failover": value });
    const seen = new Assignments().put(cart(undefined, failover("zone")), slice(...inThree));
    assert.deepEqual(seen.seenFrom("a"), ["0 a: 1 3", "1 b: 2", "1 c: 4"]);
    // Its zone has no pod that can be called.
    seen.putSlice(slice({ zone: "b" }, { zone: "a" }));
    seen.putSlice(slice({ zone: "b" }));
    assert.deepEqual(seen.seenFrom("a"), ["0 b: 1"]);
    const onNodes = slice({ zone: "a", nodeName: "a1" }, { zone: "a", nodeName: "a2" });
    assert.deepEqual(new Assignments().put(cart("PreferSameZone", failover("node")), onNodes).seenFrom("a", "a2"), [
      "0 a: 2",
      "1 a/rest-1: 1",
    ]);
    const wrong = new Assignments().put(cart("PreferSameZone", failover("near")), slice(...inThree));
    assert.deepEqual(wrong.seenFrom("c"), ["0 c: 4", "1 a: 1 3", "1 b: 2"]);
    assert.deepEqual(wrong.faults(), ["xdskit.github.io/locality-failover: expected one of zone, node"]);
    const many = Array.from({ length: 101 }, (_, index) => ({ zone: "a", nodeName: `n${index}` }));
    const tooMany = new Assignments().put(cart(undefined, failover("node")), slice(...many));
    assert.match(tooMany.faults().join(), /^xdskit\.github\.io\/locality-failover: its pods are on more than 100/);
  });

  it("go with their last pod, and break no rule", () => {
    const seen = new Assignments().put(cart("PreferSameZone"), slice(...inThree));
    assert.equal(seen.all.length, 4);
    for (const { type, body, name } of seen.all)
      assert.deepEqual(validateMessage(readBody(type, type.typeUrl, body, envoyRegistry()), { envoy: true }), [], name);
    seen.putSlice(slice({ zone: "b" }));
    assert.equal(seen.all.length, 2);
    seen.putSlice(slice());
    assert.deepEqual(seen.seenFrom("a"), []);
    assert.equal(seen.all.length, 1);
  });
});
