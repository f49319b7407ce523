import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry, type Resource, readBody, refersTo, validateMessage } from "@xdskit/api";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import type { Route } from "@xdskit/api/envoy/config/route/v3/route_components";
import { readGrpcRoute } from "../../objects/grpc-route.js";
import { readHttpRoute } from "../../objects/http-route.js";
import { keyOf, type ObjectShape } from "../../objects/object-shape.js";
import { readReferenceGrant } from "../../objects/reference-grant.js";
import { readService } from "../../objects/service.js";
import { ServiceTable } from "../service-table.js";
import { RouteTable } from "./route-table.js";

type Shape = ObjectShape & { readonly kind: string };

function service(name: string, spec: object = {}, namespace = "shop", annotations = {}): Shape {
  return {
    kind: "Service",
    metadata: { namespace, name, annotations },
    spec: { ports: [{ port: 80 }], ...spec },
  } as Shape;
}

interface Written {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly created?: string;
  readonly parents?: readonly object[];
}

const toCart = { group: "", kind: "Service", name: "cart" };

function route(rules: readonly object[] | undefined, more: Written = {}): Shape {
  const {
    kind = "GRPCRoute",
    name = "r",
    namespace = "shop",
    created = "2026-01-01T00:00:00Z",
    parents = [toCart],
  } = more;
  const metadata = { namespace, name, creationTimestamp: created, generation: 3 };
  return { kind, metadata, spec: { parentRefs: parents, rules } } as Shape;
}

const to = (name: string, more: object = {}) => ({ name, port: 80, ...more });
const grpc = (service: string, method?: string) => ({ method: { service, ...(method && { method }) } });

/** Services and routes, as they come from an API server. */
class Cluster {
  readonly routes: RouteTable;
  readonly table: ServiceTable;
  readonly resources = new Map<string, Resource>();
  readonly statuses = new Map<string, string>();
  /** The Services that the last change looked at. */
  looked = 0;

  constructor(isPartial = false) {
    this.routes = new RouteTable({ isPartial });
    this.table = new ServiceTable(this.routes);
  }

  put(...objects: readonly Shape[]): this {
    return this.#each(objects, true);
  }

  drop(...objects: readonly Shape[]): this {
    return this.#each(objects, false);
  }

  take(): this {
    const steps = this.table.take();
    let step = steps.next();
    for (this.looked = 0; !step.done; step = steps.next()) this.looked += 1;
    for (const each of step.value.upsert) this.resources.set(`${each.type.name} ${each.key}`, each);
    for (const { type, name } of step.value.remove) this.resources.delete(`${type.name} ${name}`);
    for (const [key, status] of this.routes.takeStatuses()) {
      const texts = status?.parents.flatMap(({ conditions }) =>
        (conditions ?? []).map(({ type, status: is, reason, message }) => `${type}=${is} ${reason}: ${message}`),
      );
      if (texts === undefined) this.statuses.delete(key);
      else this.statuses.set(key, texts.join("\n"));
    }
    return this;
  }

  /** The routes of a port: what matches, and where that goes. */
  shown(port = "cart.shop:80"): readonly string[] {
    return this.made(port).map(({ match, action }) => {
      assert.ok(action.case === "route");
      const { clusterSpecifier: to } = action.value;
      const headers = (match?.headers ?? []).map(({ name, headerMatchSpecifier: { value } }) => {
        assert.ok(typeof value === "object" && value.$typeName === "envoy.type.matcher.v3.StringMatcher");
        const { matchPattern } = value;
        return ` ${name}=${matchPattern.case === "safeRegex" ? `~${matchPattern.value.regex}` : matchPattern.value}`;
      });
      const clusters = to.case === "weightedClusters" ? to.value.clusters : [];
      const weights = clusters.map(({ name, weight }) => `${name}*${weight}`).join(" ");
      const path = match?.pathSpecifier;
      const at = path?.case === "safeRegex" ? path.value.regex : path?.value;
      return `${path?.case} ${at}${headers.join("")} -> ${weights || to.value}`;
    });
  }

  made(port = "cart.shop:80"): readonly Route[] {
    const { body } = this.resources.get(`route ${port}`) ?? assert.fail(port);
    return fromBinary(RouteConfigurationSchema, body).virtualHosts[0]?.routes ?? [];
  }

  status(key = "GRPCRoute shop/r"): string {
    return this.statuses.get(key) ?? assert.fail(`${key} has no status`);
  }

  #each(objects: readonly Shape[], isThere: boolean): this {
    for (const object of objects) {
      const key = keyOf(object);
      const { kind } = object;
      if (kind === "Service") this.table.setService(key, isThere ? readService(object) : undefined);
      else if (kind === "ReferenceGrant")
        this.table.touch(...this.routes.setGrant(key, isThere ? readReferenceGrant(object) : undefined));
      else {
        const read = kind === "GRPCRoute" ? readGrpcRoute : readHttpRoute;
        this.table.touch(...this.routes.setRoute(`${kind} ${key}`, isThere ? read(object) : undefined));
      }
    }
    return this.take();
  }
}

const usual = ["prefix  -> cart.shop:80"];
const cart = service("cart");
const [one, two] = [service("one"), service("two")];

describe("a GRPCRoute whose parent is a Service", () => {
  it("splits its calls by weight, and replaces what is usual until it is gone", () => {
    const split = route([{ backendRefs: [to("one", { weight: 90 }), to("two", { weight: 10 })] }]);
    const cluster = new Cluster().put(cart, one, two);
    assert.deepEqual(cluster.shown(), usual);
    assert.deepEqual(cluster.put(split).shown(), ["prefix / -> one.shop:80*90 two.shop:80*10"]);
    assert.equal(
      cluster.status(),
      "Accepted=True Accepted: the route is in use\nResolvedRefs=True ResolvedRefs: all backends are there",
    );
    assert.deepEqual(cluster.shown("one.shop:80"), ["prefix  -> one.shop:80"]);
    // Weights of one Service are added up, and those of 0 are left out: Go's client knows a cluster once in a list.
    const again = [to("one"), to("one", { weight: 2 }), to("two", { weight: 0 })];
    assert.deepEqual(cluster.put(route([{ backendRefs: again }])).shown(), ["prefix / -> one.shop:80"]);
    assert.deepEqual(cluster.drop(split).shown(), usual);
    assert.deepEqual([...cluster.statuses], []);
    assert.deepEqual([...cluster.routes.faults], []);
  });

  it("matches services, methods and headers, the longer names and the older routes first", () => {
    const header = { name: "X-Tier", value: "beta" };
    const rules = [
      { backendRefs: [to("cart")] },
      { matches: [grpc("a.Cart")], backendRefs: [to("one")] },
      {
        matches: [{ ...grpc("a.Cart"), headers: [header, { name: "x-tier", value: "second" }] }],
        backendRefs: [to("two")],
      },
      { matches: [grpc("a.Cart", "Get"), { method: { method: "List" } }], backendRefs: [to("two")] },
      {
        matches: [
          {
            method: { type: "RegularExpression", service: "b|c", method: "Get.*" },
            headers: [{ type: "RegularExpression", name: "v", value: "1|2" }],
          },
        ],
        backendRefs: [to("one")],
      },
    ];
    const younger = route([{ matches: [grpc("a.Cart")], backendRefs: [to("two")] }], {
      name: "a-younger",
      created: "2026-01-02T00:00:00Z",
    });
    assert.deepEqual(new Cluster().put(cart, one, two, younger, route(rules)).shown(), [
      "path /a.Cart/Get -> two.shop:80",
      "prefix /a.Cart/ x-tier=beta -> two.shop:80",
      "prefix /a.Cart/ -> one.shop:80",
      "prefix /a.Cart/ -> two.shop:80",
      "safeRegex /(?:b|c)/(?:Get.*) v=~1|2 -> one.shop:80",
      "safeRegex /[^/]+/List -> two.shop:80",
      "prefix / -> cart.shop:80",
    ]);
  });

  it("lets as many calls fail as are meant for backends that are not there, until they come", () => {
    const cluster = new Cluster().put(cart, one, route([{ backendRefs: [to("one", { weight: 3 }), to("two")] }]));
    assert.deepEqual(cluster.shown(), ["prefix / -> one.shop:80*3 cart.shop:80/unresolved*1"]);
    assert.match(
      cluster.status(),
      /^Accepted=True .*\nResolvedRefs=False BackendNotFound: Service shop\/two: there is none/,
    );
    for (const type of ["cluster", "endpoint"])
      assert.ok(cluster.resources.has(`${type} cart.shop:80/unresolved`), type);
    const [fault] = cluster.routes.faults;
    assert.deepEqual([fault?.reason, fault?.object.kind, fault?.object.name], ["BackendNotFound", "GRPCRoute", "r"]);
    // New pods of the Service leave it where it is.
    cluster.table.setSlice("s", undefined, {
      namespace: "shop",
      service: "cart",
      family: "IPv4",
      ports: [{ name: "", port: 1 }],
      endpoints: [{ address: "10.0.0.1", zone: "", forZones: [], forNodes: [], state: "ready", target: undefined }],
    });
    assert.ok(cluster.take().resources.has("endpoint cart.shop:80/unresolved"));
    assert.deepEqual(cluster.put(two).shown(), ["prefix / -> one.shop:80*3 two.shop:80*1"]);
    assert.match(cluster.status(), /ResolvedRefs=True/);
    assert.ok(![...cluster.resources.keys()].some((key) => key.includes("unresolved")));
    cluster.drop(one, two);
    assert.deepEqual(cluster.shown(), ["prefix / -> cart.shop:80/unresolved"]);
  });

  it("names what cannot be a backend", () => {
    const reasons = (...backendRefs: readonly object[]) => {
      const external = service("external", { type: "ExternalName", externalName: "x.example" });
      const cluster = new Cluster().put(cart, one, external, route([{ backendRefs }]));
      return cluster.status().split("\n")[1];
    };
    assert.match(reasons(to("one", { kind: "Bucket", group: "a.b" })) ?? "", /False InvalidKind: Bucket shop\/one/);
    assert.match(reasons(to("external")) ?? "", /False InvalidKind: .*ExternalName/);
    assert.match(reasons(to("one", { port: 81 })) ?? "", /False BackendNotFound: Service shop\/one: it has no port 81/);
    assert.match(reasons({ name: "one" }) ?? "", /False BackendNotFound/);
    const twice = reasons(to("two"), to("two")) ?? "";
    assert.equal(twice, "ResolvedRefs=False BackendNotFound: Service shop/two: there is none that is served");
  });

  it("needs a ReferenceGrant for a backend of another namespace", () => {
    const pay = service("pay", {}, "bank");
    const grant = (to: object): Shape => {
      const from = [{ group: "gateway.networking.k8s.io", kind: "GRPCRoute", namespace: "shop" }];
      return { kind: "ReferenceGrant", metadata: { namespace: "bank", name: "g" }, spec: { from, to: [to] } } as Shape;
    };
    const cluster = new Cluster().put(cart, pay, route([{ backendRefs: [to("pay", { namespace: "bank" })] }]));
    assert.deepEqual(cluster.shown(), ["prefix / -> cart.shop:80/unresolved"]);
    assert.match(cluster.status(), /ResolvedRefs=False RefNotPermitted: Service bank\/pay: no ReferenceGrant in bank/);
    cluster.put(grant({ group: "", kind: "Service", name: "other" }));
    assert.match(cluster.status(), /RefNotPermitted/);
    cluster.put(grant({ group: "", kind: "Service", name: "pay" }));
    assert.deepEqual(cluster.shown(), ["prefix / -> pay.bank:80"]);
    cluster.put(grant({ group: "", kind: "Service" }));
    assert.match(cluster.status(), /ResolvedRefs=True/);
    cluster.drop(grant({}));
    assert.match(cluster.status(), /RefNotPermitted/);
  });

  it("counts on the ports that it names, and says when there is none", () => {
    const ports = [
      { name: "a", port: 80 },
      { name: "b", port: 81 },
    ];
    const many = service("cart", { ports });
    const ruled = [{ backendRefs: [to("one")] }];
    const on = (...parents: readonly object[]) =>
      new Cluster().put(many, one, route(ruled, { parents: parents.map((more) => ({ ...toCart, ...more })) }));
    const counts = (cluster: Cluster) =>
      [80, 81].filter((port) => cluster.shown(`cart.shop:${port}`)[0]?.endsWith("one.shop:80"));
    assert.deepEqual(counts(on({})), [80, 81]);
    assert.deepEqual(counts(on({ port: 81 })), [81]);
    assert.deepEqual(counts(on({ sectionName: "a" })), [80]);
    assert.deepEqual(counts(on({ port: 80 }, { port: 81 })), [80, 81]);
    const wrong = on({ port: 80 }, { port: 82 });
    assert.deepEqual(counts(wrong), [80]);
    assert.match(
      wrong.status(),
      /^Accepted=True[\s\S]*Accepted=False NoMatchingParent: Service shop\/cart: it has no such/,
    );
    assert.match(
      on({ name: "nobody" }).status(),
      /^Accepted=False NoMatchingParent: Service shop\/nobody: there is none/,
    );
    // Another server may serve it.
    const some = new Cluster(true).put(route(ruled, { parents: [{ ...toCart, name: "nobody" }] }));
    assert.equal(some.status(), "");
    const external = new Cluster().put(
      service("cart", { type: "ExternalName", externalName: "x.example" }),
      route(ruled),
    );
    assert.match(external.status(), /^Accepted=False NoMatchingParent: .*ExternalName/);
    // A parent that is no Service is somebody else's.
    assert.equal(new Cluster().put(many, route(ruled, { parents: [{ name: "gateway" }] })).status(), "");
  });

  it("of another namespace changes nothing", () => {
    const parents = [{ ...toCart, namespace: "shop" }];
    const cluster = new Cluster().put(cart, one, route([{ backendRefs: [to("one")] }], { namespace: "bank", parents }));
    assert.deepEqual(cluster.shown(), usual);
    assert.match(
      cluster.status("GRPCRoute bank/r"),
      /^Accepted=False NoMatchingParent: .*only routes of its own namespace/,
    );
  });

  it("loses the rules that no client could follow, and changes nothing if that is all", () => {
    const wrong = [
      { filters: [{ type: "RequestMirror", requestMirror: {} }], backendRefs: [to("one")] },
      { sessionPersistence: {}, backendRefs: [to("one")] },
      // It would make clients reject the whole route configuration.
      { matches: [{ method: { type: "RegularExpression", service: "(" } }], backendRefs: [to("one")] },
      { matches: [{ method: { type: "Fuzzy", service: "a" } }], backendRefs: [to("one")] },
      { matches: [{ headers: [{ type: "RegularExpression", name: "a", value: "[" }] }], backendRefs: [to("one")] },
      { backendRefs: [{ ...to("one"), filters: [{ type: "RequestHeaderModifier" }] }] },
    ];
    const good = { matches: [grpc("a.B")], backendRefs: [to("one")] };
    const cluster = new Cluster().put(cart, one, route([...wrong, good]));
    assert.deepEqual(cluster.shown(), ["prefix /a.B/ -> one.shop:80"]);
    const [accepted = "", , partly = ""] = cluster.status().split("\n");
    assert.match(accepted, /^Accepted=True/);
    assert.match(
      partly,
      /^PartiallyInvalid=True UnsupportedValue: Dropped Rule 0: spec\.rules\[0\]\.filters\[0\]: the type/,
    );
    for (const text of [/Rule 1: .*sessionPersistence/, /Rule 2: .*missing/, /Rule 3: .*Fuzzy/, /Rule 4: /, /Rule 5: /])
      assert.match(partly, text);
    cluster.put(route(wrong));
    assert.deepEqual(cluster.shown(), usual);
    assert.match(cluster.status(), /^Accepted=False UnsupportedValue: Rule 0: /);
    assert.match(cluster.put(route(undefined)).status(), /^Accepted=False UnsupportedValue: it has no rules/);
    // Objects that no API server writes.
    for (const odd of [[null], [{ backendRefs: 5 }]]) {
      try {
        cluster.put(route(odd as never));
      } catch {
        // The watch leaves out what cannot be read.
      }
      assert.deepEqual(cluster.take().shown(), usual);
    }
  });

  it("has the policies of its Service, and says that gRPC's clients change no headers", () => {
    const annotations = { "xdskit.github.io/timeout": "2s", "xdskit.github.io/retries": "2" };
    const changes = { set: [{ name: "x-a", value: "50%" }], add: [{ name: "x-b", value: "c" }], remove: ["x-d"] };
    const filters = [{ type: "RequestHeaderModifier", requestHeaderModifier: changes }];
    const cluster = new Cluster().put(service("cart", {}, "shop", annotations), one);
    const [made] = cluster.put(route([{ filters, backendRefs: [to("one")] }])).made();
    assert.ok(made?.action.case === "route");
    const { maxStreamDuration, retryPolicy, timeout } = made.action.value;
    assert.deepEqual(
      [maxStreamDuration?.maxStreamDuration?.seconds, retryPolicy?.numRetries, timeout],
      [2n, 2, undefined],
    );
    const added = made.requestHeadersToAdd.map(({ header, appendAction }) => [
      header?.key,
      header?.value,
      appendAction,
    ]);
    assert.deepEqual(
      [added, made.requestHeadersToRemove],
      [
        [
          ["x-a", "50%%", 2],
          ["x-b", "c", 0],
        ],
        ["x-d"],
      ],
    );
    assert.match(cluster.status(), /^Accepted=True Accepted: .*filters\[0\]: gRPC's clients change no headers/);
  });

  it("breaks no rule, and names nothing that is not there", () => {
    const cluster = new Cluster().put(cart, one, route([{ backendRefs: [to("one"), to("two")] }]));
    const all = [...cluster.resources.values()];
    for (const { type, name, body, references } of all) {
      assert.deepEqual(validateMessage(readBody(type, type.typeUrl, body, envoyRegistry()), { envoy: true }), [], name);
      for (const reference of references)
        assert.ok(
          all.some((other) => refersTo(reference, other.type.typeUrl, other.name)),
          JSON.stringify(reference),
        );
    }
  });

  it("has the words of a client that rejects what is made of it", () => {
    const cluster = new Cluster().put(cart, one, route([{ backendRefs: [to("one")] }]));
    const rejects = (port: string, words: string) =>
      cluster.routes.setRejections(new Map([[port, { service: "shop/cart", words }]]));
    rejects("cart.shop:80", "the client web.1 rejected it: no");
    assert.match(
      cluster.take().status(),
      /\nxdskit\.github\.io\/Rejected=True RejectedByClient: the client web\.1 rejected it: no$/,
    );
    rejects("cart.shop:80", "the client web.2 rejected it");
    assert.match(cluster.take().status(), /: the client web\.2 rejected it$/);
    rejects("cart.shop:81", "another port");
    assert.doesNotMatch(cluster.take().status(), /Rejected/);
  });

  it("costs a look at its own parents, and a change of pods none", () => {
    const cluster = new Cluster().put(cart, one, two);
    for (let index = 0; index < 500; index += 1)
      cluster.table.setService(`shop/s${index}`, readService(service(`s${index}`)));
    cluster.take();
    assert.equal(cluster.put(route([{ backendRefs: [to("one")] }])).looked, 1);
    // The Service, and the parent of the route that names it.
    assert.equal(cluster.put(service("one", { ports: [{ port: 80 }, { name: "b", port: 81 }] })).looked, 2);
    // Only its status, or the same again.
    assert.equal(cluster.put(route([{ backendRefs: [to("one")] }])).looked, 0);
  });

  it("is refused if all routes of a port would be too many", () => {
    const matches = Array.from({ length: 64 }, (_, index) => grpc(`a.B${index}`));
    const cluster = new Cluster().put(cart, one);
    for (let index = 10; index < 27; index += 1)
      cluster.put(route([{ matches, backendRefs: [to("one")] }], { name: `r${index}` }));
    assert.equal(cluster.shown().length, 15 * 64);
    assert.match(cluster.status("GRPCRoute shop/r26"), /^Accepted=False UnsupportedValue: .*more than 1000 matches/);
    assert.match(cluster.status("GRPCRoute shop/r24"), /^Accepted=True/);
  });
});

describe("an HTTPRoute whose parent is a Service", () => {
  const http = (rules: readonly object[], more: Written = {}) => route(rules, { kind: "HTTPRoute", ...more });

  it("matches paths, whole ones before expressions and prefixes, which end where a part ends", () => {
    const at = (type: string, value: string) => ({ path: { type, value } });
    const rules = [
      { matches: [{ path: { type: "PathPrefix", value: "/" } }], backendRefs: [to("cart")] },
      { matches: [at("PathPrefix", "/a.B/")], backendRefs: [to("one")] },
      { matches: [{ ...at("PathPrefix", "/a.B"), headers: [{ name: "V", value: "1" }] }], backendRefs: [to("two")] },
      { matches: [at("RegularExpression", "/x/.*")], backendRefs: [to("one")] },
      { matches: [at("Exact", "/a.B/C")], backendRefs: [to("two")] },
    ];
    assert.deepEqual(new Cluster().put(cart, one, two, http(rules)).shown(), [
      "path /a.B/C -> two.shop:80",
      "safeRegex /x/.* -> one.shop:80",
      "path /a.B v=1 -> two.shop:80",
      "prefix /a.B/ v=1 -> two.shop:80",
      "path /a.B -> one.shop:80",
      "prefix /a.B/ -> one.shop:80",
      "prefix / -> cart.shop:80",
    ]);
  });

  it("limits the time of calls, and has failed ones tried again", () => {
    const annotations = { "xdskit.github.io/timeout": "2s", "xdskit.github.io/retries": "2" };
    const cluster = new Cluster().put(service("cart", {}, "shop", annotations), one);
    const action = (more: object) => {
      const [made] = cluster.put(http([{ ...more, backendRefs: [to("one")] }])).made();
      assert.ok(made?.action.case === "route");
      return made.action.value;
    };
    const timed = action({ timeouts: { request: "1m500ms", backendRequest: "2s" } });
    assert.equal(timed.maxStreamDuration?.maxStreamDuration?.seconds, 60n);
    assert.equal(timed.timeout?.nanos, 500_000_000);
    assert.equal(timed.retryPolicy?.perTryTimeout?.seconds, 2n);
    assert.equal(timed.retryPolicy?.numRetries, 2);
    assert.match(cluster.status("HTTPRoute shop/r"), /timeouts\.backendRequest: gRPC's clients limit no single try/);
    assert.equal(action({ timeouts: { request: "0s" } }).timeout?.seconds, 0n);
    const { retryPolicy } = action({ retry: { codes: [503, 500, 418], attempts: 3, backoff: "100ms" } });
    assert.equal(retryPolicy?.retryOn, "reset,unavailable,retriable-status-codes,internal");
    assert.deepEqual([retryPolicy?.retriableStatusCodes, retryPolicy?.numRetries], [[503, 500, 418], 3]);
    assert.equal(retryPolicy?.retryBackOff?.baseInterval?.nanos, 100_000_000);
    cluster.put(http([{ timeouts: { request: "soon" }, backendRefs: [to("one")] }]));
    assert.match(cluster.status("HTTPRoute shop/r"), /^Accepted=False UnsupportedValue: .*soon is no duration/);
  });

  it("says what it cannot do", () => {
    const cluster = new Cluster().put(cart, one);
    const faults = (rule: object) => {
      cluster.put(http([{ backendRefs: [to("one")], ...rule }]));
      assert.deepEqual(cluster.shown(), usual);
      return cluster.status("HTTPRoute shop/r").split("\n")[0] ?? "";
    };
    assert.match(
      faults({ matches: [{ queryParams: [] }] }),
      /UnsupportedValue: .*matches\[0\]\.queryParams is not supported/,
    );
    assert.match(faults({ matches: [{ method: "GET" }] }), /matches\[0\]\.method is not supported/);
    assert.match(faults({ filters: [{ type: "URLRewrite" }] }), /the type URLRewrite is not supported/);
    assert.match(faults({ matches: [{ path: { type: "Glob", value: "/" } }] }), /the type Glob/);
  });

  it("does not count where a GRPCRoute does, and counts on the other ports", () => {
    const ports = [
      { name: "a", port: 80 },
      { name: "b", port: 81 },
    ];
    const older = http([{ backendRefs: [to("one")] }], { name: "h", created: "2025-01-01T00:00:00Z" });
    const grpcRoute = route([{ backendRefs: [to("two")] }], { parents: [{ ...toCart, port: 80 }] });
    const cluster = new Cluster().put(service("cart", { ports }), one, two, older, grpcRoute);
    assert.deepEqual(cluster.shown("cart.shop:80"), ["prefix / -> two.shop:80"]);
    assert.deepEqual(cluster.shown("cart.shop:81"), ["prefix / -> one.shop:80"]);
    assert.match(cluster.status("HTTPRoute shop/h"), /^Accepted=True/);
    cluster.put(route([{ backendRefs: [to("two")] }]));
    assert.deepEqual(cluster.shown("cart.shop:81"), ["prefix / -> two.shop:80"]);
    assert.match(cluster.status("HTTPRoute shop/h"), /^Accepted=False Conflicted: /);
    cluster.drop(grpcRoute);
    assert.match(cluster.status("HTTPRoute shop/h"), /^Accepted=True/);
  });
});
