import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry, type Resource, readBody, refersTo, validateMessage } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { Address } from "@xdskit/api/envoy/config/core/v3/address";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { readEndpointSlice } from "../objects/endpoint-slice.js";
import { keyOf, type ObjectShape } from "../objects/object-shape.js";
import { readService } from "../objects/service.js";
import { ServiceTable } from "./service-table.js";

type Shape = ObjectShape & Record<string, unknown>;

const service = (spec: object, name = "cart"): Shape => ({ metadata: { namespace: "shop", name }, spec });
const cart = service({ ports: [{ name: "grpc", port: 8080, protocol: "TCP" }] });

/** `10.0.0.1`, or an endpoint with more. */
type Written = string | Readonly<Record<string, unknown>>;

function slice(endpoints: readonly Written[], more: Readonly<Record<string, unknown>> = {}, name = "cart-1"): Shape {
  return {
    metadata: { namespace: "shop", name, labels: { "kubernetes.io/service-name": "cart" } },
    addressType: "IPv4",
    ports: [{ name: "grpc", port: 9000, protocol: "TCP" }],
    endpoints: endpoints.map((one) => (typeof one === "string" ? { addresses: [one] } : one)),
    ...more,
  };
}

const pod = (address: string, uid: string, more: object = {}) => ({
  addresses: [address],
  targetRef: { uid },
  ...more,
});

/** A table, whose changes tell what they made: `+TYPE NAME` and `-TYPE NAME`. */
class Table {
  readonly resources = new Map<string, Resource>();
  /** How many Services the last change looked at. */
  looked = 0;
  readonly #table = new ServiceTable();
  readonly #slices = new Map<string, ReturnType<typeof readEndpointSlice>>();

  put(...objects: readonly Shape[]): readonly string[] {
    for (const object of objects) this.#set(object, true);
    return this.#take();
  }

  drop(...objects: readonly Shape[]): readonly string[] {
    for (const object of objects) this.#set(object, false);
    return this.#take();
  }

  faults(): readonly string[] {
    return Array.from(this.#table.faults, ({ object, field, message }) => {
      return `${object.namespace}/${object.name} ${field}: ${message}`;
    });
  }

  /** `ZONE WEIGHT: ADDRESS:PORT …` of each locality. */
  assigned(name = "cart.shop:8080"): readonly string[] {
    const resource = this.resources.get(`endpoint ${name}`);
    assert.ok(resource, name);
    return fromBinary(ClusterLoadAssignmentSchema, resource.body).endpoints.map((each) => {
      const addresses = each.lbEndpoints.map(({ hostIdentifier: { value } }) => {
        assert.ok(typeof value === "object");
        return [value.address, ...value.additionalAddresses.map(({ address }) => address)].map(textOf).join("+");
      });
      return `${each.locality?.zone || "-"} ${each.loadBalancingWeight}: ${addresses.join(" ")}`;
    });
  }

  #set(object: Shape, isThere: boolean): void {
    const key = keyOf(object);
    if (object.spec !== undefined) {
      this.#table.setService(key, isThere ? readService(object) : undefined);
      return;
    }
    const read = isThere ? readEndpointSlice(object) : undefined;
    this.#table.setSlice(key, this.#slices.get(key), read);
    this.#slices.set(key, read);
  }

  #take(): readonly string[] {
    const steps = this.#table.take();
    let step = steps.next();
    for (this.looked = 0; !step.done; step = steps.next()) this.looked += 1;
    const { upsert, remove } = step.value;
    for (const each of upsert) this.resources.set(`${each.type.name} ${each.key}`, each);
    for (const { type, name } of remove) this.resources.delete(`${type.name} ${name}`);
    const changed = [
      ...upsert.map(({ type, name }) => `+${type.name} ${name}`),
      ...remove.map(({ type, name }) => `-${type.name} ${name}`),
    ];
    return changed.sort();
  }
}

function textOf(address: Address | undefined): string {
  const { value } = address?.address ?? {};
  assert.ok(value?.$typeName === "envoy.config.core.v3.SocketAddress");
  return `${value.address}:${value.portSpecifier.value}`;
}

const listenersOf = (...endings: readonly string[]) =>
  ["cart.shop", "cart.shop.svc", "cart.shop.svc.cluster.local"]
    .flatMap((host) => endings.map((ending) => `+listener ${host}${ending}`))
    .sort();
const own = (sign: string, ...ports: readonly number[]) =>
  ["cluster", "endpoint", "route"].flatMap((type) => ports.map((port) => `${sign}${type} cart.shop:${port}`));

describe("the resources of a Service", () => {
  it("answer every name by which a client may call it", () => {
    const table = new Table();
    assert.deepEqual(table.put(cart), [...own("+", 8080), ...listenersOf(":8080", ":grpc", "")].sort());
  });

  it("answer names without a port only if it has one, and leave out what is not TCP", () => {
    const table = new Table();
    const ports = [{ port: 80 }, { name: "dns", port: 53, protocol: "UDP" }];
    assert.deepEqual(table.put(service({ ports })), [...own("+", 80), ...listenersOf(":80", "")].sort());
    const both = service({
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    });
    const gone = listenersOf("").map((name) => `-${name.slice(1)}`);
    assert.deepEqual(table.put(both), [...own("+", 81), ...listenersOf(":81", ":a", ":b"), ...gone].sort());
  });

  it("break no rule, and name nothing that is not there", () => {
    const table = new Table();
    table.put(cart, slice(["10.0.0.1", { addresses: ["10.0.0.2"], zone: "a" }]));
    const all = [...table.resources.values()];
    for (const resource of all) {
      const { type, name, body, references } = resource;
      assert.deepEqual(validateMessage(readBody(type, type.typeUrl, body, envoyRegistry()), { envoy: true }), [], name);
      for (const reference of references) {
        const isThere = all.some((other) => refersTo(reference, other.type.typeUrl, other.name));
        assert.ok(isThere, `${type.name} ${name} names ${JSON.stringify(reference)}`);
      }
    }
  });

  it("are an empty load assignment without endpoints, and go with the Service", () => {
    const table = new Table();
    table.put(cart);
    assert.deepEqual(table.assigned(), []);
    table.put(slice(["10.0.0.1"]));
    const all = table.drop(cart);
    assert.equal(all.length, 12);
    assert.ok(all.every((one) => one.startsWith("-")));
    assert.equal(table.resources.size, 0);
    assert.deepEqual(table.drop(slice([])), []);
    // Slices may be there before their Service.
    table.put(slice(["10.0.0.2"]));
    table.put(cart);
    assert.deepEqual(table.assigned(), ["- 1: 10.0.0.2:9000"]);
  });

  it("of an external name are the cluster of that name, whatever slices say", () => {
    const table = new Table();
    const external = service({ type: "ExternalName", externalName: "cart.example.org", ports: [{ port: 443 }] });
    const made = table.put(external, slice(["10.0.0.1"]));
    assert.deepEqual(made, ["+cluster cart.shop:443", "+route cart.shop:443", ...listenersOf(":443", "")].sort());
    const { loadAssignment, clusterDiscoveryType } = fromBinary(
      ClusterSchema,
      table.resources.get("cluster cart.shop:443")?.body ?? new Uint8Array(),
    );
    const [{ lbEndpoints: [endpoint] = [] } = {}] = loadAssignment?.endpoints ?? [];
    assert.ok(typeof endpoint?.hostIdentifier.value === "object");
    assert.equal(textOf(endpoint.hostIdentifier.value.address), "cart.example.org:443");
    assert.equal(clusterDiscoveryType.value, 2);
  });
});

describe("the annotations of a Service", () => {
  const annotated = (annotations: Readonly<Record<string, string>>) => ({
    ...cart,
    metadata: { ...cart.metadata, annotations },
  });
  const cluster = (table: Table) =>
    fromBinary(ClusterSchema, table.resources.get("cluster cart.shop:8080")?.body ?? new Uint8Array());
  const action = (table: Table) => {
    const route = table.resources.get("route cart.shop:8080");
    const { action } =
      fromBinary(RouteConfigurationSchema, route?.body ?? new Uint8Array()).virtualHosts[0]?.routes[0] ?? {};
    assert.ok(action?.case === "route");
    return action.value;
  };
  const backoffOf = (table: Table) => {
    const { baseInterval, maxInterval } = action(table).retryPolicy?.retryBackOff ?? {};
    return [baseInterval?.nanos, maxInterval?.nanos];
  };

  it("say how it is called", () => {
    const table = new Table();
    table.put(
      annotated({
        "xdskit.github.io/lb-policy": "ring_hash",
        "xdskit.github.io/hash-header": "x-user",
        "xdskit.github.io/timeout": "1500ms",
        "xdskit.github.io/retries": "2",
        "xdskit.github.io/retry-on": "unavailable, internal",
        "xdskit.github.io/retry-backoff": "25ms",
        "xdskit.github.io/max-requests": "7",
        "xdskit.github.io/eject-failing": "60%",
      }),
    );
    const { lbPolicy, circuitBreakers, outlierDetection } = cluster(table);
    assert.deepEqual([lbPolicy, circuitBreakers?.thresholds[0]?.maxRequests], [2, 7]);
    assert.equal(outlierDetection?.failurePercentageThreshold, 60);
    const { hashPolicy, maxStreamDuration, retryPolicy } = action(table);
    assert.deepEqual(hashPolicy[0]?.policySpecifier.case, "header");
    assert.equal(Number(maxStreamDuration?.maxStreamDuration?.seconds), 1);
    assert.equal(maxStreamDuration?.maxStreamDuration?.nanos, 500_000_000);
    assert.deepEqual([retryPolicy?.retryOn, retryPolicy?.numRetries], ["unavailable,internal", 2]);
    assert.deepEqual(backoffOf(table), [25_000_000, 250_000_000]);
    for (const { type, name, body } of table.resources.values())
      assert.deepEqual(validateMessage(readBody(type, type.typeUrl, body, envoyRegistry()), { envoy: true }), [], name);
  });

  it("are called over HTTP/2 by Envoys if a port says so", () => {
    const options = (appProtocol: string) => {
      const ports = [{ name: "grpc", port: 8080, appProtocol }];
      const table = new Table();
      table.put(service({ ports }));
      const { typedExtensionProtocolOptions } = cluster(table);
      return Object.values(typedExtensionProtocolOptions).map(({ value }) => [...value]);
    };
    // explicit_http_config { http2_protocol_options {} }
    const http2 = [[0x1a, 2, 0x12, 0]];
    assert.deepEqual(["kubernetes.io/h2c", "grpc", "http"].map(options), [http2, http2, []]);
  });

  it("of no retries are no policy: Go's client rejects one that has none", () => {
    const table = new Table();
    table.put(annotated({ "xdskit.github.io/retries": "0", "xdskit.github.io/retry-on": "internal" }));
    assert.equal(action(table).retryPolicy, undefined);
  });

  it("that are wrong are told, and change nothing", () => {
    const table = new Table();
    table.put(cart);
    const changed = table.put(
      annotated({
        "xdskit.github.io/lb-policy": "maglev",
        "xdskit.github.io/timeout": "0s",
        "xdskit.github.io/retries": "5",
        "xdskit.github.io/retry-on": "never",
        "xdskit.github.io/retry-backoff": "250ms,25ms",
        "xdskit.github.io/max-requests": "-1",
        "xdskit.github.io/eject-failing": "0%",
        "xdskit.github.io/hash-header": "X User",
        "xdskit.github.io/retrys": "1",
        "xdskit.github.io/constructor": "1",
        "somebody.example/timeout": "soon",
      }),
    );
    assert.deepEqual(changed, []);
    const said = table.faults();
    assert.equal(said.length, 10);
    assert.match(
      said[0] ?? "",
      /^shop\/cart xdskit\.github\.io\/lb-policy: expected one of round_robin, least_request, ring_hash$/,
    );
    assert.match(said[8] ?? "", /retrys: there is no such annotation.*retries/);
    table.put(cart);
    assert.deepEqual(table.faults(), []);
  });

  it("that say nothing without others are told", () => {
    const table = new Table();
    const both = { "xdskit.github.io/retry-backoff": "25ms", "xdskit.github.io/hash-header": "x-user" };
    table.put(annotated(both));
    assert.deepEqual(table.faults(), [
      "shop/cart xdskit.github.io/retry-backoff: it says nothing without retries or retry-on",
      "shop/cart xdskit.github.io/hash-header: it says nothing without lb-policy: ring_hash",
    ]);
    table.put(annotated({ ...both, "xdskit.github.io/retries": "1", "xdskit.github.io/lb-policy": "ring_hash" }));
    assert.deepEqual(table.faults(), []);
  });

  it("may be those of wongnai/xds, and ours win", () => {
    const table = new Table();
    const theirs = {
      "xds.lmwn.com/retry-count": "5",
      "xds.lmwn.com/retry-backoff": "10ms,0.2s",
      "xds.lmwn.com/retry-status": "cancelled,unavailable",
    };
    table.put(annotated(theirs));
    const retries = () => [action(table).retryPolicy?.retryOn, action(table).retryPolicy?.numRetries];
    // Its page allows 5; gRPC's clients stop after 4.
    assert.deepEqual(
      [retries(), backoffOf(table)],
      [
        ["cancelled,unavailable", 4],
        [10_000_000, 200_000_000],
      ],
    );
    table.put(annotated({ "xdskit.github.io/retries": "2", ...theirs, "xdskit.github.io/retry-on": "internal" }));
    assert.deepEqual(retries(), ["internal", 2]);
    // Its default: one retry, and the backoff that clients have.
    table.put(annotated({ "xds.lmwn.com/retry-status": "internal" }));
    assert.deepEqual(
      [retries(), backoffOf(table)],
      [
        ["internal", 1],
        [undefined, undefined],
      ],
    );
    assert.deepEqual(table.faults(), []);
  });

  it("of wongnai/xds that are wrong, or that are not followed, are told, too", () => {
    const table = new Table();
    table.put(
      annotated({
        "xds.lmwn.com/retry-count": "2",
        "xds.lmwn.com/retry-backoff": "soon",
        "xds.lmwn.com/api-gateway": "front",
        "xds.lmwn.com/grpc-service": "shop.Cart",
        "xds.lmwn.com/retry-stats": "internal",
      }),
    );
    assert.equal(action(table).retryPolicy, undefined);
    assert.deepEqual(
      table.faults().map((fault) => fault.replace("shop/cart xds.lmwn.com/", "")),
      [
        "retry-count: it says nothing without xds.lmwn.com/retry-status",
        "retry-backoff: it says nothing without xds.lmwn.com/retry-status",
        "api-gateway: it is not followed: a GRPCRoute says the same",
        "grpc-service: it is not followed: a GRPCRoute says the same",
        'retry-stats: there is no such annotation; did you mean "retry-status"?',
      ],
    );
    table.put(annotated({ "xds.lmwn.com/retry-status": "internal", "xds.lmwn.com/retry-count": "many" }));
    assert.equal(action(table).retryPolicy?.numRetries, 1);
    assert.match(table.faults().join(), /retry-count: expected a number from 0 to 4$/);
    table.put(annotated({ "xds.lmwn.com/retry-count": "2", "xds.lmwn.com/retry-status": "5xx" }));
    assert.equal(action(table).retryPolicy, undefined);
    assert.match(table.faults().join(), /^shop\/cart xds\.lmwn\.com\/retry-status: expected some of cancelled/);
  });
});

describe("the endpoints of a Service", () => {
  it("are those of all its slices, once each, each with the port that its slice has under the name", () => {
    const table = new Table();
    const other = [
      { name: "web", port: 80 },
      { name: "grpc", port: 9001 },
    ];
    table.put(
      cart,
      slice([pod("10.0.0.2", "b"), pod("10.0.0.1", "a")]),
      slice([pod("10.0.0.3", "c"), pod("10.0.0.1", "a")], { ports: other }, "cart-2"),
      slice(["10.0.0.9"], { ports: [{ name: "web", port: 9000 }] }, "cart-3"),
      slice(["example.org"], { addressType: "FQDN" }, "cart-4"),
    );
    assert.deepEqual(table.assigned(), ["- 3: 10.0.0.1:9000 10.0.0.2:9000 10.0.0.3:9001"]);
  });

  it("are grouped by zone, and a zone weighs as much as it has pods", () => {
    const table = new Table();
    const zoned = (address: string, zone: string) => ({ addresses: [address], zone });
    table.put(cart, slice([zoned("10.0.0.3", "b"), zoned("10.0.0.1", "b"), zoned("10.0.0.2", "a"), "10.0.0.4"]));
    assert.deepEqual(table.assigned(), [
      "- 1: 10.0.0.4:9000",
      "a 1: 10.0.0.2:9000",
      "b 2: 10.0.0.1:9000 10.0.0.3:9000",
    ]);
  });

  it("have both addresses of a pod, the Service's first family first", () => {
    const six = (...endpoints: readonly Written[]) => slice(endpoints, { addressType: "IPv6" }, "cart-6");
    const table = new Table();
    table.put(cart, slice([pod("10.0.0.1", "a"), pod("10.0.0.2", "b")]), six(pod("fd00::1", "a"), "fd00::9"));
    assert.deepEqual(table.assigned(), ["- 3: 10.0.0.1:9000+fd00::1:9000 10.0.0.2:9000 fd00::9:9000"]);
    table.put(service({ ipFamilies: ["IPv6", "IPv4"], ports: [{ name: "grpc", port: 8080 }] }));
    assert.deepEqual(table.assigned(), ["- 3: 10.0.0.2:9000 fd00::1:9000+10.0.0.1:9000 fd00::9:9000"]);
  });

  it("are the ready ones; those that leave and still serve only where no other is left", () => {
    const ready = { conditions: { ready: true, serving: true, terminating: false } };
    const leaving = { conditions: { ready: false, serving: true, terminating: true } };
    const gone = { conditions: { ready: false, serving: false, terminating: true } };
    const starting = { conditions: { ready: false, serving: false, terminating: false } };
    const table = new Table();
    table.put(
      cart,
      slice([pod("10.0.0.1", "a", ready), pod("10.0.0.2", "b", leaving), pod("10.0.0.3", "c", starting)]),
    );
    assert.deepEqual(table.assigned(), ["- 1: 10.0.0.1:9000"]);
    table.put(slice([pod("10.0.0.1", "a", leaving), pod("10.0.0.2", "b", leaving), pod("10.0.0.3", "c", gone)]));
    assert.deepEqual(table.assigned(), ["- 2: 10.0.0.1:9000 10.0.0.2:9000"]);
    table.put(slice([pod("10.0.0.1", "a", gone), pod("10.0.0.3", "c", starting)]));
    assert.deepEqual(table.assigned(), []);
  });

  it("name an address once, though it has gone from one pod to the next", () => {
    const table = new Table();
    table.put(cart, slice([pod("10.0.0.1", "old"), pod("10.0.0.1", "new"), pod("10.0.0.2", "other")]));
    assert.deepEqual(table.assigned(), ["- 2: 10.0.0.1:9000 10.0.0.2:9000"]);
  });

  it("come from slices without a name of the port if the Service gives it none", () => {
    const table = new Table();
    table.put(
      service({ clusterIP: "None", ports: [{ port: 8080 }] }),
      slice(["10.0.0.1"], { ports: [{ port: 9000 }] }),
    );
    assert.deepEqual(table.assigned(), ["- 1: 10.0.0.1:9000"]);
  });
});

describe("a change", () => {
  it("of which nothing can be made is a fault of its Service until something can be made, and then all is", () => {
    const table = new Table();
    assert.deepEqual(table.put(cart, slice(["10.0.0.1"], { ports: [{ name: "grpc", port: -1 }] })), []);
    assert.match(table.faults().join(), /^shop\/cart spec: .*uint32/);
    const changed = table.put(slice(["10.0.0.1"]));
    assert.deepEqual(table.faults(), []);
    for (const type of ["cluster", "endpoint", "route"]) assert.ok(changed.includes(`+${type} cart.shop:8080`), type);
  });

  it("looks at its own Service, and at none of thousands of others", () => {
    const table = new Table();
    const names = Array.from({ length: 2_000 }, (_, index) => `s${index}`);
    table.put(cart, slice(["10.0.0.1"]), ...names.map((name) => service({ ports: [{ port: 1 }] }, name)));
    assert.equal(table.looked, 2_001);
    assert.deepEqual(table.put(slice(["10.0.0.2"])), ["+endpoint cart.shop:8080"]);
    assert.equal(table.looked, 1);
  });

  it("of endpoints changes only the load assignment of its Service", () => {
    const table = new Table();
    table.put(cart, service({ ports: [{ port: 1 }] }, "other"), slice(["10.0.0.1"]));
    assert.deepEqual(table.put(slice(["10.0.0.2"])), ["+endpoint cart.shop:8080"]);
    const elsewhere = {
      metadata: { namespace: "shop", name: "cart-1", labels: { "kubernetes.io/service-name": "other" } },
    };
    assert.deepEqual(table.put(slice(["10.0.0.2"], { ...elsewhere, ports: [{ port: 2 }] })), [
      "+endpoint cart.shop:8080",
      "+endpoint other.shop:1",
    ]);
  });

  it("that leaves the content as it was changes nothing, in whatever order it comes", () => {
    const [a, b] = [pod("10.0.0.1", "a"), pod("10.0.0.2", "b")];
    const table = new Table();
    table.put(cart, slice([a, b]));
    assert.deepEqual(table.put(cart, slice([b, a]), slice([b], {}, "cart-0")), []);
    // It goes from one slice to another.
    assert.deepEqual(table.put(slice([a]), slice([b], {}, "cart-2")), []);
    // A pod that is no longer ready is gone for clients before it is gone.
    const leaving = { conditions: { ready: false, serving: true, terminating: true } };
    assert.equal(
      table.put(slice([a, { ...b, ...leaving }]), slice([], {}, "cart-2"), slice([], {}, "cart-0")).length,
      1,
    );
    assert.deepEqual(table.put(slice([a])), []);
  });
});
