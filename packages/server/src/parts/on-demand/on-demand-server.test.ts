import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createResource, resourceTypes } from "@xdskit/api";
import { VirtualHostSchema } from "@xdskit/api/envoy/config/route/v3/route_components";
import type { ResourceError } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import {
  type DeltaDiscoveryResponse,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createServer } from "../../create-server.js";
import type { GroupSettings } from "../../settings/group-settings.js";
import type { OnDemandOptions, Supplier, SupplyRequest } from "../../settings/on-demand-options.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { waitFor, within } from "../../testing/basics/wait-for.js";
import { namesIn } from "../../testing/clients/rest-client.js";
import { serviceClient } from "../../testing/clients/service-client.js";
import { delta, sotw } from "../../testing/clients/xds-client.js";
import { withRest } from "../../testing/running-rest.js";
import { ads, perType, urlOf, withMemoryServer, withServer } from "../../testing/running-server.js";
import { cluster, clusterResource, loadAssignment } from "../../testing/test-resources.js";
import { virtualHostResource } from "./virtual-hosts.js";

const typeUrl = urlOf("cluster");
const node = { id: "one" };

/** The names in a response, and, with a minus, the names that it removes. */
function said({ resources, removedResources }: DeltaDiscoveryResponse): readonly string[] {
  return [...resources.map(({ name }) => name), ...removedResources.map((name) => `-${name}`)].sort();
}

function demanding(supply: Supplier, more: Partial<OnDemandOptions> = {}): { readonly onDemand: OnDemandOptions } {
  return { onDemand: { types: ["cluster"], supply, answerWithinMs: 60_000, ...more } };
}

test("a name that no layer has is supplied, and one that a layer has is answered at once without a call", async () => {
  const asked: string[] = [];
  let answer: (() => void) | undefined;
  const supply: Supplier = async ({ name, type, group, node: { id } }) => {
    asked.push(`${type.name} ${name} ${group} ${id}`);
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return name === "z" ? undefined : cluster(name);
  };
  await withMemoryServer(demanding(supply, { concurrency: 1 }), async ({ server, client }) => {
    server.config.set([cluster("a")]);
    const stream = delta(client.open(ads("delta")));
    stream.send({ node, typeUrl, resourceNamesSubscribe: ["a", "b", "z"] });
    assert.deepEqual(said(await stream.next()), ["a"]);
    await waitFor("the first call", () => asked.length === 1);
    answer?.();
    assert.deepEqual(said(await stream.next()), ["b"]);
    await waitFor("the second call", () => asked.length === 2);
    answer?.();
    assert.deepEqual(said(await stream.next()), ["-z"]);
    assert.deepEqual(asked, ["cluster b all one", "cluster z all one"]);
    // A layer's resource wins, and the supplied one is given up.
    server.config.update({ upsert: [cluster("b", "from a layer")] });
    assert.deepEqual(said(await stream.next()), ["b"]);
    assert.deepEqual(server.stats().onDemand, {
      calls: 2,
      pending: 0,
      supplied: 0,
      absent: 1,
      failing: 0,
      errors: 0,
      dropped: 0,
      refused: 0,
    });
  });
});

test("many streams that ask for one name cause one call in each group", async () => {
  const asked: string[] = [];
  const supply: Supplier = ({ name, group }) => {
    asked.push(`${group} ${name}`);
    return cluster(name, group);
  };
  const groups: readonly GroupSettings[] = [
    { name: "edge", match: { id: "edge-*" }, layers: ["default"] },
    { name: "rest", match: {}, layers: ["default"] },
  ];
  await withMemoryServer({ ...demanding(supply), groups }, async ({ server, client }) => {
    server.config.set([]);
    const streams = Array.from({ length: 100 }, (_, index) => {
      const id = index % 2 === 0 ? `edge-${index}` : `other-${index}`;
      const stream = delta(client.open(ads("delta")));
      stream.send({ node: { id }, typeUrl, resourceNamesSubscribe: ["x"] });
      return stream;
    });
    const versions = new Set<string>();
    for (const stream of streams) {
      const response = await stream.next();
      assert.deepEqual(said(response), ["x"]);
      versions.add(response.resources[0]?.version ?? "");
    }
    assert.deepEqual(asked.sort(), ["edge x", "rest x"]);
    assert.equal(versions.size, 2);
  });
});

test("a supplier's update reaches the clients, until no client is subscribed", async () => {
  let request: SupplyRequest | undefined;
  const supply: Supplier = (given) => {
    request = given;
    return undefined;
  };
  await withMemoryServer(demanding(supply, { lingerMs: 0 }), async ({ server, client }) => {
    server.config.set([]);
    const stream = delta(client.open(ads("delta")));
    stream.send({ node, typeUrl, resourceNamesSubscribe: ["x"] });
    assert.deepEqual(said(await stream.next()), ["-x"]);
    request?.update(cluster("x", "1"));
    assert.deepEqual(said(await stream.next()), ["x"]);
    request?.update(cluster("x", "2"));
    assert.deepEqual(said(await stream.next()), ["x"]);
    request?.update(undefined);
    assert.deepEqual(said(await stream.next()), ["-x"]);
    request?.update(cluster("x", "3"));
    assert.deepEqual(said(await stream.next()), ["x"]);
    assert.equal(request?.signal.aborted, false);
    stream.send({ typeUrl, resourceNamesUnsubscribe: ["x"] });
    await waitFor("the end of the lease", () => request?.signal.aborted === true);
    assert.equal(request?.signal.reason.message, "nobody asks for it any more");
    assert.equal(server.snapshotOf("all")?.sets.get(typeUrl)?.size ?? 0, 0);
    assert.equal(server.stats().onDemand?.dropped, 1);
  });
});

test("whatever a supplier does, the server goes on and reports the mistake", async () => {
  const wrong: { readonly [name: string]: () => unknown } = {
    throws: () => {
      throw new Error("no database");
    },
    rejects: () => Promise.reject(new Error("no database")),
    text: () => "a cluster",
    shape: () => ({ body: 1 }),
    name: () => cluster("other"),
    type: () => loadAssignment("type", 80),
    invalid: () => ({
      ...cluster("invalid"),
      connectTimeout: { $typeName: "google.protobuf.Duration", seconds: -1n, nanos: 0 },
    }),
    proxy: () =>
      new Proxy(
        {},
        {
          has() {
            throw new Error("a trap");
          },
        },
      ),
    nothing: () => Promise.reject(undefined),
  };
  const supply = (({ name }: SupplyRequest) => (name === "good" ? cluster("good") : wrong[name]?.())) as Supplier;
  await withMemoryServer(demanding(supply, { answerWithinMs: 20 }), async ({ server, client, events }) => {
    server.config.set([]);
    const stream = delta(client.open(ads("delta")));
    const names = Object.keys(wrong);
    stream.send({ node, typeUrl, resourceNamesSubscribe: [...names, "good"] });
    const heard = new Set<string>();
    while (heard.size < names.length + 1) for (const name of said(await stream.next())) heard.add(name);
    assert.deepEqual([...heard].sort(), ["good", ...names.map((name) => `-${name}`)].sort());
    const failed = events.flatMap((event) =>
      event.kind === "on-demand" && event.outcome === "failed" ? [[event.name, event.findings[0]?.code]] : [],
    );
    assert.deepEqual(Object.fromEntries(failed), {
      throws: "XDSKIT_ON_DEMAND_FAILED",
      rejects: "XDSKIT_ON_DEMAND_FAILED",
      proxy: "XDSKIT_ON_DEMAND_FAILED",
      nothing: "XDSKIT_ON_DEMAND_FAILED",
      text: "XDSKIT_MESSAGE_INVALID",
      shape: "XDSKIT_ON_DEMAND_UNSUITABLE",
      name: "XDSKIT_ON_DEMAND_UNSUITABLE",
      type: "XDSKIT_ON_DEMAND_UNSUITABLE",
      invalid: "XDSKIT_RULE_BROKEN",
    });
  });
});

test("a full set in SotW waits for the decision, and load assignments are silent", async () => {
  const supply: Supplier = ({ name, type }) => {
    if (name === "z") return undefined;
    return type.name === "cluster" ? cluster(name) : loadAssignment(name, 80);
  };
  await withMemoryServer(demanding(supply, { types: ["cds", "endpoint"] }), async ({ server, client }) => {
    server.config.set([cluster("a")]);
    const stream = sotw(client.open(ads("sotw")));
    stream.send({ node, typeUrl, resourceNames: ["a", "b", "z"] });
    assert.equal((await stream.next()).resources.length, 2);
    stream.send({ typeUrl: urlOf("endpoint"), resourceNames: ["b", "z"] });
    assert.equal((await stream.next()).resources.length, 1);
  });
});

test("a unary Fetch waits for the decision", async () => {
  const supply: Supplier = async ({ name }) => (name === "z" ? undefined : cluster(name));
  await withServer(demanding(supply), async ({ server, client }) => {
    server.config.set([cluster("a")]);
    const fetch = client.open({ ...perType("sotw", "cluster"), unary: true });
    const stream = sotw(fetch);
    stream.send({ node, resourceNames: ["a", "b", "z"] });
    assert.equal((await stream.next()).resources.length, 2);
    assert.equal((await fetch.status).code, 0);
    assert.equal(server.stats().groups[0]?.streams, 0);
  });
});

test("a client that understands errors is told that a name is late, not that it is absent, and the cause stays here", async () => {
  const supply: Supplier = ({ name }) => {
    if (name === "z") return undefined;
    throw new Error("no database at 10.0.0.9");
  };
  const options = { ...demanding(supply, { answerWithinMs: 20 }), resourceErrors: "always" } as const;
  await withServer(options, async ({ server, client }) => {
    server.config.set([]);
    /** For each error in a response, whether it says that the name is late. */
    const errorIn = ({ resourceErrors }: { readonly resourceErrors: readonly ResourceError[] }) =>
      resourceErrors.map(({ resourceName, errorDetail }) => {
        assert.doesNotMatch(errorDetail?.message ?? "", /database/);
        return [resourceName?.name, /could not be supplied in time/.test(errorDetail?.message ?? "")];
      });
    const stream = delta(client.open(ads("delta")));
    stream.send({ node, typeUrl, resourceNamesSubscribe: ["x"] });
    const late = await stream.next();
    assert.deepEqual([said(late), errorIn(late)], [[], [["x", true]]]);
    // The client asks again when the name is late already, and beside a name that does not exist.
    const fetch = client.open({ ...perType("sotw", "cluster"), unary: true });
    const call = sotw(fetch);
    call.send({ node, resourceNames: ["x", "z"] });
    assert.deepEqual(errorIn(await call.next()).sort(), [
      ["x", true],
      ["z", false],
    ]);
    assert.equal((await fetch.status).code, 0);
  });
});

test("a name that was late while its client resumed is absent later without an error", async () => {
  const requests: SupplyRequest[] = [];
  const supply: Supplier = (request) => {
    requests.push(request);
    return requests.length === 1 ? cluster("x") : new Promise(() => {});
  };
  const clock = manualClock();
  const onDemand = demanding(supply, { answerWithinMs: 50, lingerMs: 0, timeoutMs: 600_000 });
  await withMemoryServer({ ...onDemand, clock, resourceErrors: "always" }, async ({ server, client }) => {
    server.config.set([]);
    const first = client.open(ads("delta"));
    delta(first).send({ node, typeUrl, resourceNamesSubscribe: ["x"] });
    await waitFor("the resource", () => server.snapshotOf("all")?.sets.get(typeUrl)?.size === 1);
    const { version } = server.snapshotOf("all")?.sets.get(typeUrl)?.named("x")[0] ?? assert.fail();
    const passes = async (ms: number) => {
      clock.advance(ms);
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    first.cancel();
    await passes(0);
    await passes(1);
    assert.equal(requests[0]?.signal.aborted, true);
    const stream = delta(client.open(ads("delta")));
    stream.send({ node, typeUrl, resourceNamesSubscribe: ["x"], initialResourceVersions: { x: version } });
    await waitFor("the second call", () => requests.length === 2);
    await passes(0);
    // Late before it is known what the client has,
    await passes(60);
    // and found after that.
    await passes(60);
    requests[1]?.update(cluster("x"));
    await passes(0);
    // It has all that it came with: its target is the newest from now on.
    await passes(6_000);
    requests[1]?.update(undefined);
    const { removedResources, resourceErrors } = await stream.next();
    assert.deepEqual([removedResources, resourceErrors], [["x"], []]);
  });
});

test("a poll over REST waits for the decision while it may be held", async () => {
  const waiting: (() => void)[] = [];
  const supply: Supplier = ({ name }) =>
    new Promise((resolve) => waiting.push(() => resolve(name === "z" ? undefined : cluster(name))));
  await withRest({ ...demanding(supply), rest: { holdMs: 60_000 } }, async ({ server, client }) => {
    server.config.set([cluster("a")]);
    const poll = client.send("/v3/discovery:clusters", { node, resource_names: ["a", "b", "z"] });
    await waitFor("the calls", () => waiting.length === 2);
    for (const answer of waiting) answer();
    assert.deepEqual(namesIn(await poll), ["a", "b"]);
  });
  const never: Supplier = () => new Promise(() => {});
  await withRest({ ...demanding(never), rest: { holdMs: 20 } }, async ({ server, client }) => {
    server.config.set([cluster("a")]);
    const answer = await client.send("/v3/discovery:clusters", { node, resource_names: ["a", "b"] });
    assert.deepEqual(namesIn(answer), ["a"]);
  });
});

test("a virtual host that is asked for by two of its domains is one copy", async () => {
  const asked: string[] = [];
  const supply: Supplier = ({ name }) => {
    asked.push(name);
    return virtualHostResource(
      name,
      create(VirtualHostSchema, { name: "shop", domains: ["a.com", "b.com", "*.c.com"] }),
    );
  };
  await withMemoryServer(demanding(supply, { types: ["vhds"], lingerMs: 0 }), async ({ server, client }) => {
    server.config.set([]);
    const type = resourceTypes.find("vhds")!;
    const stream = delta(client.open({ variant: "delta", api: "v3", only: type, unary: false }));
    stream.send({ node, resourceNamesSubscribe: ["r/a.com"] });
    const [first] = (await stream.next()).resources;
    assert.equal(first?.name, "r/shop");
    assert.deepEqual(first?.aliases, ["r/a.com", "r/b.com"]);
    stream.send({ resourceNamesSubscribe: ["r/b.com", "r/x.c.com"] });
    // One is covered by an existing resource, the other causes a call; both are the same resource.
    assert.deepEqual(said(await stream.next()), ["r/shop"]);
    await waitFor("the second call", () => asked.length === 2);
    assert.deepEqual(asked, ["r/a.com", "r/x.c.com"]);
    await waitFor("one resource", () => server.snapshotOf("all")?.sets.get(type.typeUrl)?.size === 1);
    stream.send({ resourceNamesUnsubscribe: ["r/a.com", "r/x.c.com"] });
    await waitFor("what lingers to be gone", () => server.stats().onDemand?.supplied === 1);
    assert.equal(server.snapshotOf("all")?.sets.get(type.typeUrl)?.size, 1);
    stream.send({ resourceNamesUnsubscribe: ["r/b.com"] });
    await waitFor("nothing to be left", () => server.snapshotOf("all")?.sets.get(type.typeUrl)?.size === 0);
  });
});

test("the supplier is not called before the layers are known", async () => {
  const asked: string[] = [];
  const supply: Supplier = ({ name }) => {
    asked.push(name);
    return cluster(name);
  };
  await withMemoryServer(demanding(supply), async ({ server, client }) => {
    const stream = delta(client.open(ads("delta")));
    stream.send({ node, typeUrl, resourceNamesSubscribe: ["a", "b"] });
    await waitFor("the subscription", () => server.stats().streams.some(({ requests }) => requests === 1));
    assert.deepEqual(asked, []);
    server.config.set([clusterResource("a")]);
    const heard = new Set<string>();
    while (heard.size < 2) for (const name of said(await stream.next())) heard.add(name);
    assert.deepEqual([...heard].sort(), ["a", "b"]);
    assert.deepEqual(asked, ["b"]);
  });
});

test("a resource that goes between the question and the answer is decided too", async () => {
  await withMemoryServer(
    demanding(() => undefined),
    async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const stream = delta(client.open(ads("delta")));
      stream.send({ node, typeUrl, resourceNamesSubscribe: ["a", "b"] });
      server.config.set([]);
      const heard = new Set<string>();
      while (heard.size < 2) for (const name of said(await stream.next())) heard.add(name);
      assert.deepEqual([...heard].sort(), ["-a", "-b"]);
    },
  );
});

test("a type that does not exist is an error at once", () => {
  assert.throws(() => createServer({ onDemand: { types: ["klaster"], supply: () => undefined } }), {
    code: "XDSKIT_TYPE_NAME_UNKNOWN",
  });
});

test("names of foreign authorities do not exist: the supplier is not called, and none is accepted", async () => {
  const named = (authority: string, name: string) => `xdstp://${authority}/envoy.config.cluster.v3.Cluster/${name}`;
  const asked: string[] = [];
  const supply: Supplier = ({ name }) => {
    asked.push(name);
    const other = named("theirs", "b");
    return name === named("ours", "b") ? createResource(cluster(other), { aliases: [name] }) : cluster(name);
  };
  const options = { ...demanding(supply), authorities: ["ours"] };
  await withMemoryServer(options, async ({ server, client, events }) => {
    server.config.set([]);
    const stream = delta(client.open(ads("delta")));
    const [theirs, ours, aliased] = [named("theirs", "a"), named("ours", "a"), named("ours", "b")];
    stream.send({ node, typeUrl, resourceNamesSubscribe: [theirs, ours, aliased] });
    const heard = new Set<string>();
    while (heard.size < 2) for (const name of said(await stream.next())) heard.add(name);
    assert.deepEqual([...heard].sort(), [ours, `-${theirs}`].sort());
    assert.ok(!asked.includes(theirs));
    const failures = () =>
      events.flatMap((event) => (event.kind === "on-demand" && event.outcome === "failed" ? event : []));
    await waitFor("the failure", () => failures().length > 0);
    assert.deepEqual(
      failures()
        .map(({ name, findings }) => [name, findings[0]?.code])
        .slice(0, 1),
      [[aliased, "XDSKIT_AUTHORITY"]],
    );
  });
});

test("a unary Fetch that waits while the server closes gets the supplied resource", async () => {
  let answer: (() => void) | undefined;
  const supply: Supplier = async ({ name }) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return cluster(name);
  };
  await withServer(demanding(supply), async ({ server, address }) => {
    server.config.set([cluster("a")]);
    const services = serviceClient(address);
    try {
      const call = services.call("/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters");
      call.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node, resourceNames: ["b"] })));
      call.finish();
      await waitFor("the call", () => answer !== undefined);
      const closing = server.close({ timeoutMs: 20_000 });
      answer?.();
      await within("the end of the call", call.status);
      assert.equal(fromBinary(DiscoveryResponseSchema, await call.next()).resources.length, 1);
      await closing;
    } finally {
      services.close();
    }
  });
});
