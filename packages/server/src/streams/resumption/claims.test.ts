import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromJson, type Message } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { createResource, envoyRegistry } from "@xdskit/api";
import { TransportSocketSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { HealthCheckSchema } from "@xdskit/api/envoy/config/core/v3/health_check";
import type { ServerOptions } from "../../contracts/server-options.js";
import type { Method } from "../../contracts/transport.js";
import { type ManualClock, manualClock } from "../../testing/basics/manual-clock.js";
import type { RawClient } from "../../testing/clients/raw-client.js";
import { delta, sotw } from "../../testing/clients/xds-client.js";
import {
  ads,
  perType,
  type Running,
  type TypeName,
  types,
  urlOf,
  withMemoryServer,
} from "../../testing/running-server.js";
import { cluster, edsCluster, listener, loadAssignment, routeConfiguration } from "../../testing/test-resources.js";

const registry = envoyRegistry();
const typeOf = (url: string) => (Object.keys(types) as TypeName[]).find((one) => urlOf(one) === url) ?? url;

/** What a client says of one type, in its first request. */
interface Said {
  readonly names?: readonly string[];
  /** Delta. */
  readonly has?: readonly Message[];
  /** SotW. */
  readonly version?: string;
}

function versions(messages: readonly Message[] = []): Record<string, string> {
  return Object.fromEntries(messages.map((one) => createResource(one)).map(({ name, version }) => [name, version]));
}

/** A client that comes (back), and acknowledges each response. Each answer says after how many milliseconds it came. */
function comes(client: RawClient, clock: ManualClock, method: Method, said: Partial<Record<TypeName, Said>>) {
  const began = clock.now();
  const stream = client.open(method);
  const node = { id: "envoy" };
  const told: string[] = [];
  const tell = (url: string, names: readonly string[]) =>
    told.push(`${clock.now() - began}: ${typeOf(url)} ${[...names].sort().join(" ")}`);
  let takeNext: () => Promise<void>;
  const requests = Object.entries(said) as [TypeName, Said][];
  if (method.variant === "delta") {
    const talk = delta(stream);
    for (const [type, { names = [], has }] of requests) {
      const claims = { resourceNamesSubscribe: [...names], initialResourceVersions: versions(has) };
      talk.send({ node, typeUrl: urlOf(type), ...claims });
    }
    takeNext = async () => {
      const { typeUrl, nonce, resources, removedResources } = await talk.next();
      tell(typeUrl, [...resources.map(({ name }) => name), ...removedResources.map((name) => `-${name}`)]);
      talk.send({ typeUrl, responseNonce: nonce });
    };
  } else {
    const talk = sotw(stream);
    for (const [type, { names = [], version: versionInfo = "" }] of requests)
      talk.send({ node, typeUrl: urlOf(type), resourceNames: [...names], versionInfo });
    takeNext = async () => {
      const { typeUrl, nonce: responseNonce, versionInfo, resources } = await talk.next();
      tell(
        typeUrl,
        resources.map((one) => createResource(anyUnpack(one, registry) as Message).name),
      );
      const names = said[typeOf(typeUrl) as TypeName]?.names ?? [];
      talk.send({ typeUrl, responseNonce, versionInfo, resourceNames: [...names] });
    };
  }
  let taken = 0;
  return {
    /** What it was told until this many milliseconds later. */
    async until(ms: number): Promise<readonly string[]> {
      for (;;) {
        for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
        while (stream.responses.length > taken) {
          taken += 1;
          await takeNext();
        }
        if (clock.now() - began >= ms) return told.splice(0);
        clock.advance(10);
      }
    },
    leave: () => stream.cancel(),
  };
}

type Change = Parameters<Running["server"]["config"]["update"]>[0];
const [a1, a2, b1] = [loadAssignment("a", 1), loadAssignment("a", 2), loadAssignment("b", 1)];
const clusters = [edsCluster("a", "a"), edsCluster("b", "b")];
const without = (type: TypeName, ...names: readonly string[]) => ({ remove: names.map((name) => ({ type, name })) });

/** A server that has had these changes, one after the other. */
function after(
  changes: readonly Change[],
  test: (running: Running, clock: ManualClock) => Promise<void>,
  options: ServerOptions = {},
): Promise<void> {
  const clock = manualClock();
  return withMemoryServer({ ...options, clock }, (running) => {
    for (const change of changes) {
      running.server.config.update(change);
      clock.advance(1_000);
    }
    return test(running, clock);
  });
}

const endpointsOnly: readonly Change[] = [{ upsert: clusters }, { upsert: [a1, b1], ...without("cluster", "a", "b") }];

describe("a client of delta that comes back with load assignments", () => {
  const both = { endpoint: { names: ["a", "b"], has: [a1, b1] } };

  // Over a stream of its own, what is gone stays until other streams of the client had time to come back.
  for (const [stream, method, toldOfBoth] of [
    ["ADS", ads("delta"), "a -b"],
    ["a stream of its own", perType("delta", "endpoint"), "a"],
  ] as const) {
    it(`is sent only the one that has changed, over ${stream}`, () =>
      after([...endpointsOnly, { upsert: [a2] }], async ({ client }, clock) => {
        const envoy = comes(client, clock, method, both);
        assert.deepEqual(await envoy.until(2_000), ["100: endpoint a"]);
      }));

    it(`is sent no old content of one that is gone, over ${stream}`, () =>
      after([...endpointsOnly, { upsert: [a2], ...without("endpoint", "b") }], async ({ client }, clock) => {
        const envoy = comes(client, clock, method, both);
        const told = await envoy.until(2_000);
        assert.deepEqual(told.join(" ").replaceAll(/\d+: endpoint /g, ""), toldOfBoth);
      }));

    it(`is sent nothing where nothing has changed, over ${stream}`, () =>
      after(endpointsOnly, async ({ client }, clock) => {
        const envoy = comes(client, clock, method, both);
        assert.deepEqual(await envoy.until(2_000), []);
      }));
  }

  it("is sent only the one that has changed while their clusters are there, which it does not ask for", () =>
    after([{ upsert: clusters }, { upsert: [a1, b1] }, { upsert: [a2] }], async ({ client }, clock) => {
      const envoy = comes(client, clock, ads("delta"), both);
      assert.deepEqual(await envoy.until(2_000), ["100: endpoint a"]);
    }));

  it("is sent those again whose clusters changed since: they may be warming", () => {
    const changed = { upsert: [edsCluster("other", "b")] };
    return after([{ upsert: clusters }, { upsert: [a1, b1] }, changed, { upsert: [a2] }], async ({ client }, clock) => {
      const envoy = comes(client, clock, ads("delta"), both);
      assert.deepEqual(await envoy.until(2_000), ["100: endpoint a b"]);
    });
  });
});

/** The version of a set of its own type, as a client of SotW has it. */
async function versionOf({ client }: Running, type: TypeName, names: readonly string[] = []): Promise<string> {
  const talk = sotw(client.open(perType("sotw", type)));
  talk.send({ node: { id: "earlier" }, typeUrl: urlOf(type), resourceNames: [...names] });
  return (await talk.next()).versionInfo;
}

describe("a client of SotW that comes back", () => {
  it("is sent the newest load assignments once, whatever version it has of them", () =>
    after(endpointsOnly, async (running, clock) => {
      const version = await versionOf(running, "endpoint", ["a", "b"]);
      running.server.config.update({ upsert: [a2] });
      const envoy = comes(running.client, clock, ads("sotw"), { endpoint: { names: ["a", "b"], version } });
      assert.deepEqual(await envoy.until(2_000), ["0: endpoint a b"]);
    }));

  it("is sent nothing of a type whose version is current, whatever else has changed", () =>
    after([{ upsert: [cluster("a"), listener("l")] }], async (running, clock) => {
      const said = { cluster: { version: await versionOf(running, "cluster") } };
      const more = { listener: { version: await versionOf(running, "listener") } };
      running.server.config.update({ upsert: [listener("l", "2")] });
      const envoy = comes(running.client, clock, ads("sotw"), { ...said, ...more });
      assert.deepEqual(await envoy.until(2_000), ["100: listener l"]);
    }));
});

/** Envoy asks for its clusters only once it has the load assignments of the earlier ones, or after 15 seconds. */
describe("a client that comes back, and waits for load assignments that it never got", () => {
  const [c1, c2] = [loadAssignment("c", 1), loadAssignment("c", 2)];
  const history: readonly Change[] = [
    { upsert: [...clusters, a1, b1] },
    { upsert: [edsCluster("c", "c"), c1], ...without("cluster", "a", "b") },
    { upsert: [c2], ...without("endpoint", "a", "b") },
  ];
  for (const names of [["a"], ["a", "b"]]) {
    it(`gets the last ones of ${names.join(" and ")}, whose clusters are gone, SotW`, () =>
      after(history, async ({ client }, clock) => {
        const envoy = comes(client, clock, ads("sotw"), { endpoint: { names } });
        assert.deepEqual(await envoy.until(2_000), [`100: endpoint ${names.join(" ")}`]);
      }));
  }
  it("is told that they do not exist, delta", () =>
    after(history, async ({ client }, clock) => {
      const envoy = comes(client, clock, ads("delta"), { endpoint: { names: ["a"] } });
      assert.deepEqual(await envoy.until(2_000), ["0: endpoint -a"]);
    }));
  it("gets the newest of those that are there, and the last of the others", () =>
    after(history, async ({ client }, clock) => {
      const envoy = comes(client, clock, ads("sotw"), { endpoint: { names: ["a", "c"] } });
      assert.deepEqual(await envoy.until(2_000), ["100: endpoint a c"]);
    }));
});

/** What the server has now, and what it removed. */
const withHistory: readonly Change[] = [
  { upsert: [cluster("a"), cluster("old"), edsCluster("gone", "gone"), routeConfiguration("r", "old")] },
  { upsert: [cluster("c")] },
  { upsert: [routeConfiguration("r", "a")] },
  { upsert: [cluster("b")], ...without("cluster", "old", "c", "gone") },
];

describe("a client with versions that a server does not know", () => {
  for (const version of ["7", "0123456789abcdef"]) {
    it(`gets its first response as soon as it has asked for all, and nothing that was never its own, SotW ${version}`, () =>
      after(withHistory, async ({ client }, clock) => {
        const envoy = comes(client, clock, ads("sotw"), { cluster: { version } });
        assert.deepEqual(await envoy.until(2_000), ["100: cluster a b"]);
      }));
  }

  it("gets its first response as soon as it has asked for all, delta", () =>
    after(withHistory, async ({ client }, clock) => {
      const has = [cluster("a", "elsewhere"), cluster("x", "elsewhere")];
      const envoy = comes(client, clock, ads("delta"), { cluster: { has } });
      const told = await envoy.until(2_000);
      assert.deepEqual(told, ["100: cluster a", "110: cluster -x b"]);
    }));

  it("keeps a removed cluster that a route names which it has, until it has the new route", () =>
    after(withHistory.slice(0, 2), async (running, clock) => {
      const version = await versionOf(running, "route", ["r"]);
      for (const change of withHistory.slice(2)) running.server.config.update(change);
      const said = { cluster: { version: "0123456789abcdef" }, route: { names: ["r"], version } };
      const envoy = comes(running.client, clock, ads("sotw"), said);
      const told = await envoy.until(2_000);
      assert.equal(told[0], "100: cluster a b old");
      assert.deepEqual(told.at(-1)?.replace(/\d+: /, ""), "cluster a b");
    }));

  it("keeps a removed cluster whose load assignment it asks for", () =>
    after(withHistory, async ({ client }, clock) => {
      const said = { cluster: { version: "7" }, endpoint: { names: ["gone"] } };
      const envoy = comes(client, clock, ads("sotw"), said);
      assert.equal((await envoy.until(2_000))[0], "100: cluster a b gone");
    }));
});

describe("a client that asks for endpoints and routes, and never for clusters", () => {
  const [before, now] = [routeConfiguration("r", "a"), routeConfiguration("r", "b")];
  const healthCheck = fromJson(HealthCheckSchema, {
    timeout: "1s",
    interval: "1s",
    unhealthyThreshold: 1,
    healthyThreshold: 1,
    tcpHealthCheck: {},
  });
  const checked = { ...edsCluster("a", "a"), healthChecks: [healthCheck] };
  const said = async (running: Running) => ({
    endpoint: { names: ["a"], has: [a1], version: await versionOf(running, "endpoint", ["a"]) },
    route: { names: ["r"], has: [before], version: await versionOf(running, "route", ["r"]) },
  });
  // In SotW the first two are those that it had.
  const told = {
    delta: (ms: number) => ["100: endpoint a", `${ms}: route r`],
    sotw: (ms: number) => ["100: endpoint a", "100: route r", `${ms}: route r`],
  };
  const known = { delta: ["100: endpoint a", "110: route r"], sotw: ["0: endpoint a", "0: route r"] };

  it("is waited for, for 5 s at most, where nobody knows what its routes name", () =>
    after([{ upsert: [...clusters, a1, b1, now] }], async (running, clock) => {
      const said = { endpoint: { names: ["a"], has: [a1] }, route: { names: ["r"], has: [before] } };
      const envoy = comes(running.client, clock, ads("delta"), said);
      assert.deepEqual(await envoy.until(10_000), told.delta(5_100));
    }));

  for (const variant of ["delta", "sotw"] as const) {
    it(`is waited for no longer once it has acknowledged all endpoints for which clusters could warm, ${variant}`, () =>
      after([{ upsert: [...clusters, a1, b1, before] }], async (running, clock) => {
        const claims = await said(running);
        running.server.config.update({ upsert: [now] });
        const envoy = comes(running.client, clock, ads(variant), claims);
        assert.deepEqual(await envoy.until(1_000), told[variant](210));
      }));

    for (const [what, ...mayWarm] of [
      ["health checks", [checked]],
      ["health checks that they had before", [checked], clusters],
      ["names of DNS", [cluster("dns")]],
      [
        "secrets of a file",
        [{ ...edsCluster("a", "a"), transportSocket: create(TransportSocketSchema, { name: "tls" }) }],
      ],
    ] as const)
      it(`is waited for, for 5 s at most, where its clusters may wait for ${what}, ${variant}`, () =>
        after(
          [{ upsert: [...clusters, a1, b1, before] }, ...mayWarm.map((upsert) => ({ upsert }))],
          async (running, clock) => {
            const claims = await said(running);
            running.server.config.update({ upsert: [now] });
            const envoy = comes(running.client, clock, ads(variant), claims);
            assert.deepEqual(await envoy.until(10_000), told[variant](5_100));
          },
        ));

    it(`is not waited for any more once it has shown that, ${variant}`, () =>
      after([{ upsert: [...clusters, a1, b1, before] }, { upsert: [checked] }], async (running, clock) => {
        const claims = await said(running);
        running.server.config.update({ upsert: [now] });
        // What leaves before its clusters could be warm has shown nothing.
        for (const [ms, answers] of [
          [10_000, told[variant](5_100)],
          [25_000, told[variant](5_100)],
          [1_000, known[variant]],
          [1_000, known[variant]],
        ] as const) {
          const envoy = comes(running.client, clock, ads(variant), claims);
          assert.deepEqual(await envoy.until(ms), answers);
          envoy.leave();
          await envoy.until(ms + 1_000);
        }
      }));
  }
});

describe("a client that comes to a server beside which others write", () => {
  const others = { name: "shared", start: async () => {}, close: async () => {}, catchUp: async () => {} };
  for (const [whose, version, ms] of [
    ["one of the others may have made", "0123456789abcdef", 1_000],
    ["no server of ours has made", "7", 100],
  ] as const) {
    it(`waits ${ms} ms with a version that ${whose}`, () =>
      after(withHistory, async ({ client, server }, clock) => {
        await server.addSource(others);
        const envoy = comes(client, clock, ads("sotw"), { cluster: { version } });
        assert.deepEqual(await envoy.until(2_000), [`${ms}: cluster a b`]);
      }));
  }

  it("is shown as one of which nobody knows yet what it has", () =>
    after(withHistory, async ({ client, server }, clock) => {
      await server.addSource(others);
      const envoy = comes(client, clock, ads("sotw"), { cluster: { version: "0123456789abcdef" } });
      await envoy.until(500);
      assert.match(
        server.node("envoy")?.why ?? "",
        /^cluster: waits to hear what the client, which came back, still has/,
      );
      await envoy.until(2_000);
      assert.equal(server.node("envoy")?.why, "");
    }));
});

describe("a client with streams of one type each, whose group has other layers since", () => {
  it("keeps what the routes of a broken stream name", () => {
    const groups = (layer: string) => [{ name: "edge", match: { id: "envoy" }, layers: [layer] }];
    const clock = manualClock();
    return withMemoryServer({ clock, groups: groups("one") }, async ({ server, client }) => {
      for (const layer of ["one", "two"]) server.config.layer(layer).set([cluster("a"), routeConfiguration("r", "a")]);
      const clustersOnly = comes(client, clock, perType("delta", "cluster"), { cluster: {} });
      await clustersOnly.until(1_000);
      const routes = comes(client, clock, perType("delta", "route"), { route: { names: ["r"] } });
      await routes.until(1_000);
      server.reconfigure({ groups: groups("two") });
      const layer = server.config.layer("two");
      layer.update({ upsert: [cluster("b"), routeConfiguration("r", "b")] });
      for (let ms = 2_000; ms <= 8_000; ms += 2_000) {
        await clustersOnly.until(ms);
        await routes.until(ms);
      }
      routes.leave();
      await clustersOnly.until(clock.now() + 100);
      layer.update({ upsert: [routeConfiguration("r", "a")], ...without("cluster", "b") });
      assert.deepEqual(await clustersOnly.until(clock.now() + 2_000), []);
    });
  });
});
