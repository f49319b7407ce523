import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  LoadStatsRequestSchema,
  type LoadStatsResponse,
  LoadStatsResponseSchema,
} from "@xdskit/api/envoy/service/load_stats/v3/lrs";
import { statusCode } from "@xdskit/protocol";
import type { ServerOptions } from "../../contracts/server-options.js";
import { waitFor, within } from "../../testing/basics/wait-for.js";
import { type ServiceCall, serviceClient } from "../../testing/clients/service-client.js";
import { sotw } from "../../testing/clients/xds-client.js";
import { ads, type Running, withServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";

const paths = {
  v3: "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats",
  v2: "/envoy.service.load_stats.v2.LoadReportingService/StreamLoadStats",
} as const;
const modern = { id: "n1", cluster: "edge", clientFeatures: ["envoy.lrs.supports_send_all_clusters"] };
const old = { id: "n2", cluster: "edge" };

/** A client of load reporting. */
function reporter(call: ServiceCall) {
  return {
    call,
    send: (request: MessageInitShape<typeof LoadStatsRequestSchema>) =>
      call.send(toBinary(LoadStatsRequestSchema, create(LoadStatsRequestSchema, request))),
    next: async (): Promise<LoadStatsResponse> => fromBinary(LoadStatsResponseSchema, await call.next()),
  };
}

function withReporting(
  options: ServerOptions,
  test: (running: Running & { open(api?: "v2" | "v3"): ReturnType<typeof reporter> }) => Promise<void>,
) {
  return withServer(options, async (running) => {
    const client = serviceClient(running.address);
    try {
      await test({ ...running, open: (api = "v3") => reporter(client.call(paths[api])) });
    } finally {
      client.close();
    }
  });
}

const load = (clusterName: string, zone: string, counts: Record<string, bigint>) => ({
  clusterName,
  loadReportInterval: { seconds: 1n, nanos: 500_000_000 },
  upstreamLocalityStats: [{ locality: { region: "eu", zone }, ...counts }],
});
const open = ({ server }: Running) => server.loadTotals().streams.reduce((sum, { open }) => sum + open, 0);

describe("load reporting", () => {
  for (const api of ["v3", "v2"] as const) {
    it(`load reporting asks a capable client for all clusters, and has its reports, ${api}`, () =>
      withReporting({}, async ({ server, open, events }) => {
        server.config.set([cluster("a")]);
        const stream = open(api);
        stream.send({ node: modern });
        const { clusters, sendAllClusters, loadReportingInterval, reportEndpointGranularity } = await stream.next();
        assert.deepEqual([clusters, sendAllClusters, reportEndpointGranularity], [[], true, false]);
        assert.deepEqual([loadReportingInterval?.seconds, loadReportingInterval?.nanos], [10n, 0]);
        stream.send({
          clusterStats: [
            {
              ...load("a", "1", {
                totalSuccessfulRequests: 5n,
                totalErrorRequests: 2n,
                totalIssuedRequests: 8n,
                totalRequestsInProgress: 1n,
              }),
              clusterServiceName: "service-a",
              totalDroppedRequests: 4n,
              droppedRequests: [{ category: "throttle", droppedCount: 3n }],
            },
          ],
        });
        await waitFor("the report", () => server.loadReports().length === 1);
        const [report] = server.loadReports({ node: "n1", cluster: "a" });
        assert.ok(report !== undefined && report.receivedAt > 1.7e12);
        const { receivedAt: _, localities, ...rest } = report;
        assert.deepEqual(rest, {
          node: { id: "n1", cluster: "edge", locality: { region: "", zone: "", subZone: "" } },
          group: "all",
          cluster: "a",
          service: "service-a",
          intervalMs: 1_500,
          dropped: 4,
          droppedByCategory: [{ category: "throttle", count: 3 }],
        });
        const [locality] = localities;
        assert.deepEqual(
          { ...locality, receivedAt: 0 },
          {
            locality: { region: "eu", zone: "1", subZone: "" },
            priority: 0,
            successful: 5,
            errors: 2,
            issued: 8,
            inProgress: 1,
            metrics: [],
            endpoints: [],
            intervalMs: 1_500,
            receivedAt: 0,
          },
        );
        assert.deepEqual(
          events.filter(({ kind }) => kind.startsWith("load")).map(({ kind }) => kind),
          ["load-reporting-started", "load-report"],
        );
      }));
  }

  it("load reporting names the clusters to a client that cannot send all, and tells it when the names change, and only then", () =>
    withReporting({}, async ({ server, open }) => {
      server.config.set([cluster("a"), cluster("b")]);
      const stream = open();
      stream.send({ node: old });
      const first = await stream.next();
      assert.deepEqual([first.clusters, first.sendAllClusters], [["a", "b"], false]);
      server.config.set([cluster("a", "other content"), cluster("b")]);
      server.config.set([cluster("a", "third content"), cluster("b"), cluster("c")]);
      assert.deepEqual((await stream.next()).clusters, ["a", "b", "c"]);
      server.config.set([cluster("a", "fourth content"), cluster("b"), cluster("c")]);
      server.config.update({});
      await new Promise((resolve) => setTimeout(resolve, 30));
      server.config.set([cluster("a")]);
      assert.deepEqual((await stream.next()).clusters, ["a"]);
      assert.equal(stream.call.responses.length, 3);
    }));

  it("load reporting waits for a name before it names clusters: an empty list means all to some clients", () =>
    withReporting({}, async ({ server, open }) => {
      const stream = open();
      stream.send({ node: old });
      server.config.set([]);
      await waitFor("the stream", () => server.stats().nodes === 1);
      server.config.set([cluster("a")]);
      assert.deepEqual((await stream.next()).clusters, ["a"]);
      server.config.set([]);
      assert.deepEqual((await stream.next()).clusters, []);
    }));

  it("load reporting asks each group as its settings say", () =>
    withReporting(
      {
        loadReports: { intervalMs: 1_250, endpoints: true },
        groups: [
          {
            name: "edge",
            match: { id: "n1" },
            layers: ["default"],
            loadReports: { clusters: ["a", "x"], intervalMs: 500 },
          },
          { name: "rest", match: { id: "n2" }, layers: ["default"] },
        ],
      },
      async ({ server, open }) => {
        server.config.set([cluster("a")]);
        const ask = async (node: typeof old) => {
          const stream = open();
          stream.send({ node });
          const {
            clusters,
            sendAllClusters,
            loadReportingInterval: interval,
            reportEndpointGranularity,
          } = await stream.next();
          return [clusters, sendAllClusters, interval?.seconds, interval?.nanos, reportEndpointGranularity];
        };
        assert.deepEqual(await ask(modern), [["a", "x"], false, 0n, 500_000_000, true]);
        assert.deepEqual(await ask(old), [["a"], false, 1n, 250_000_000, true]);
        const stream = open();
        stream.send({ node: { id: "n3" } });
        const { code, message } = await within("the refusal", stream.call.status);
        assert.equal(code, statusCode.permissionDenied);
        assert.match(message, /no group of this server matches the node: id "n3"/);
      },
    ));

  it("load reporting sums up the reports of nodes, and counts requests in progress only of connected ones", () =>
    withReporting({}, async ({ server, open }) => {
      server.config.set([cluster("a"), cluster("b")]);
      const [one, two] = [open(), open("v2")];
      one.send({
        node: modern,
        clusterStats: [
          load("a", "1", { totalSuccessfulRequests: 5n, totalIssuedRequests: 6n, totalRequestsInProgress: 3n }),
        ],
      });
      two.send({
        node: old,
        clusterStats: [
          load("a", "1", { totalSuccessfulRequests: 2n, totalErrorRequests: 1n, totalRequestsInProgress: 4n }),
        ],
      });
      one.send({
        clusterStats: [load("a", "2", { totalErrorRequests: 7n }), load("static", "1", { totalErrorRequests: 1n })],
      });
      one.send({ clusterStats: [load("a", "1", { totalSuccessfulRequests: 10n, totalRequestsInProgress: 2n })] });
      const reports = () => server.loadTotals().streams.reduce((sum, { reports }) => sum + reports, 0);
      await waitFor("the reports", () => reports() === 4);
      const rows = () =>
        server
          .loadTotals()
          .localities.map(({ cluster, locality: { zone }, successful, errors, issued, inProgress }) =>
            [cluster, zone, successful, errors, issued, inProgress].join(" "),
          );
      assert.deepEqual(rows().sort(), ["(other) 1 0 1 0 0", "a 1 17 1 6 6", "a 2 0 7 0 0"]);
      two.call.finish();
      assert.equal((await within("the end", two.call.status)).code, statusCode.ok);
      await waitFor("the end", () =>
        server.loadTotals().streams.every(({ api, open }) => open === (api === "v3" ? 1 : 0)),
      );
      assert.deepEqual(rows().sort(), ["(other) 1 0 1 0 0", "a 1 17 1 6 2", "a 2 0 7 0 0"]);
      // Its reports stay for a while.
      assert.equal(server.loadReports({ node: "n2" }).length, 1);
    }));

  it("load reporting ends a stream with an invalid or too large report, and no other", () =>
    withReporting(
      { limits: { requestBytes: 5_000, reportClusters: 3, reportLocalities: 2, nodeBytes: 500 } },
      async (running) => {
        const { server, open: call } = running;
        server.config.set([cluster("a")]);
        const good = call();
        good.send({ node: modern });
        await good.next();
        const ends = async (what: (stream: ReturnType<typeof reporter>) => void) => {
          const stream = call();
          what(stream);
          const { code, message } = await within("the end", stream.call.status);
          return `${code} ${message}`;
        };
        assert.match(await ends((stream) => stream.call.send(Uint8Array.of(0x0a, 0xff))), /^3 malformed load report: /);
        assert.match(await ends((stream) => stream.send({})), /^3 the first request has no node/);
        assert.match(await ends((stream) => stream.send({ node: { id: "x".repeat(6_000) } })), /^8 /);
        assert.match(
          await ends((stream) => stream.send({ node: { id: "x".repeat(600) } })),
          /^8 the node takes more than 500/,
        );
        assert.match(
          await ends((stream) => stream.send({ node: modern, clusterStats: [load("a", "x".repeat(600), {})] })),
          /^3 malformed load report: locality\.\w+ has 600 bytes, and at most 512 are allowed/,
        );
        const clusterStats = ["1", "2", "3", "4"].map((clusterName) => ({ clusterName }));
        assert.match(await ends((stream) => stream.send({ node: modern, clusterStats })), /^8 .*more than 3 clusters/);
        const localities = [load("a", "1", {}), load("a", "2", {}), load("a", "3", {})];
        assert.match(
          await ends((stream) => stream.send({ node: modern, clusterStats: localities })),
          /^8 .*more than 2 localities/,
        );
        good.send({ clusterStats: [load("a", "1", { totalErrorRequests: 1n })] });
        await waitFor("the good one's report", () => server.loadReports({ node: "n1" }).length === 1);
        await waitFor("one stream", () => open(running) === 1);
        assert.equal(server.stats().nodes, 1);
      },
    ));

  it("load reporting counts its streams toward the limits of all streams and of a node's", () =>
    withReporting({ limits: { streams: 2, streamsPerNode: 1 } }, async ({ server, open, client }) => {
      server.config.set([cluster("a")]);
      const first = open();
      first.send({ node: modern });
      await first.next();
      const second = open();
      second.send({ node: modern });
      assert.match((await within("the refusal", second.call.status)).message, /node "n1" has 1 streams open/);
      const discovery = client.open(ads("sotw"));
      sotw(discovery).send({ node: old, typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster" });
      await waitFor("a response", () => discovery.responses.length === 1);
      for (const status of [open().call.status, client.open(ads("sotw")).status]) {
        const { code, message } = await within("the refusal", status);
        assert.deepEqual([code, message], [8, "the server has 2 streams open and takes no more"]);
      }
      first.call.cancel();
      await waitFor("room", () => server.loadTotals().streams[1]?.open === 0);
      discovery.finish();
      await within("the end", discovery.status);
      const third = open();
      third.send({ node: modern });
      await third.next();
    }));

  it("load reporting ends with OK when the server closes", () =>
    withReporting({}, async ({ server, open }) => {
      server.config.set([cluster("a")]);
      const stream = open();
      stream.send({ node: modern });
      await stream.next();
      const closing = server.close();
      assert.equal((await within("the end", stream.call.status)).code, statusCode.ok);
      await within("the close", closing);
    }));

  it("load reporting refuses settings that make no sense", async () => {
    for (const loadReports of [{ intervalMs: 0 }, { intervalMs: Number.NaN }, { clusters: [] }]) {
      await assert.rejects(
        withServer({ loadReports }, async () => {}),
        { code: "XDSKIT_LOAD_REPORTS_INVALID" },
      );
      const groups = [{ name: "a", match: {}, layers: ["a"], loadReports }];
      await assert.rejects(
        withServer({ groups }, async () => {}),
        { code: "XDSKIT_LOAD_REPORTS_INVALID" },
      );
    }
  });

  it("load reporting of a node that an edit takes to another group ends, so that the client connects again", () => {
    const groups = (layer: string, match: string) => [
      { name: "edge", match: { cluster: match }, layers: [layer] },
      { name: "rest", match: { cluster: "rest" }, layers: ["rest"] },
    ];
    return withReporting({ groups: groups("a", "edge") }, async ({ server, open }) => {
      for (const name of ["a", "b", "rest"]) server.config.layer(name).set([cluster(name)]);
      const begin = async (node: { id: string; cluster: string }) => {
        const stream = open();
        stream.send({ node });
        return { stream, clusters: (await stream.next()).clusters };
      };
      const stays = await begin({ id: "n3", cluster: "rest" });
      const before = await begin(old);
      assert.deepEqual(before.clusters, ["a"]);
      server.reconfigure({ groups: groups("b", "edge") });
      assert.equal(
        server.stats().groups.reduce((sum, { streams }) => sum + streams, 0),
        1,
      );
      const { code, message } = await within("its end", before.stream.call.status);
      assert.deepEqual([code, message], [statusCode.unavailable, "the node is in another group now: connect again"]);
      const after = await begin(old);
      assert.deepEqual(after.clusters, ["b"]);
      server.reconfigure({ groups: groups("b", "nobody") });
      assert.equal((await within("its end", after.stream.call.status)).code, statusCode.permissionDenied);
      server.config.layer("rest").update({ upsert: [cluster("more")] });
      assert.deepEqual((await stays.stream.next()).clusters.sort(), ["more", "rest"]);
    });
  });
});
