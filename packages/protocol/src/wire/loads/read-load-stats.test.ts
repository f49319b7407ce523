import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { LoadStatsRequestSchema } from "@xdskit/api/envoy/service/load_stats/v3/lrs";
import { MalformedMessage } from "@xdskit/api/wire";
import fc from "fast-check";
import { times } from "../../testing/effort.js";
import { type LoadStatsLimits, TooMuchInMessage } from "./load-stats.js";
import { readLoadStatsRequest } from "./read-load-stats.js";

const limits: LoadStatsLimits = { nodeBytes: 1_000, reportClusters: 3, reportLocalities: 3 };
const read = (bytes: Uint8Array, node = true) => readLoadStatsRequest(bytes, limits, { node });
const written = (request: MessageInitShape<typeof LoadStatsRequestSchema>) =>
  toBinary(LoadStatsRequestSchema, create(LoadStatsRequestSchema, request));

/** An address whose one alternative is set. */
type AddressCase = NonNullable<
  NonNullable<
    NonNullable<
      NonNullable<
        NonNullable<MessageInitShape<typeof LoadStatsRequestSchema>["clusterStats"]>[number]["upstreamLocalityStats"]
      >[number]["upstreamEndpointStats"]
    >[number]["address"]
  >["address"]
>;

describe("readLoadStatsRequest", () => {
  it("all fields of a report are read", () => {
    const bytes = written({
      node: { id: "n", cluster: "c", clientFeatures: ["f"] },
      clusterStats: [
        {
          clusterName: "web",
          clusterServiceName: "service",
          loadReportInterval: { seconds: 10n, nanos: 2_500_000 },
          totalDroppedRequests: 7n,
          droppedRequests: [{ category: "throttle", droppedCount: 5n }],
          upstreamLocalityStats: [
            {
              locality: { region: "r", zone: "z", subZone: "s" },
              priority: 1,
              totalSuccessfulRequests: 1n,
              totalRequestsInProgress: 2n,
              totalErrorRequests: 3n,
              totalIssuedRequests: 2n ** 40n,
              loadMetricStats: [{ metricName: "m", numRequestsFinishedWithMetric: 4n, totalMetricValue: -1.5 }],
              memUtilization: { numRequestsFinishedWithMetric: 8n, totalMetricValue: 0.25 },
            },
          ],
        },
        { clusterName: "idle" },
      ],
    });
    const { node, clusters } = read(bytes);
    assert.deepEqual([node?.id, node?.cluster, node?.clientFeatures], ["n", "c", ["f"]]);
    const none = { intervalMs: 0, dropped: 0, droppedByCategory: [], localities: [] };
    assert.deepEqual(clusters, [
      {
        cluster: "web",
        service: "service",
        intervalMs: 10_003,
        dropped: 7,
        droppedByCategory: [{ category: "throttle", count: 5 }],
        localities: [
          {
            locality: { region: "r", zone: "z", subZone: "s" },
            priority: 1,
            successful: 1,
            inProgress: 2,
            errors: 3,
            issued: 2 ** 40,
            endpoints: [],
            metrics: [
              { name: "m", requests: 4, total: -1.5 },
              { name: "mem_utilization", requests: 8, total: 0.25 },
            ],
          },
        ],
      },
      { cluster: "idle", service: "", ...none },
    ]);
    assert.equal(read(bytes, false).node, undefined);
  });

  it("addresses of endpoints of every kind are read", () => {
    const addresses: readonly [AddressCase, string][] = [
      [
        { case: "socketAddress", value: { address: "10.0.0.1", portSpecifier: { case: "portValue", value: 80 } } },
        "10.0.0.1:80",
      ],
      [
        { case: "socketAddress", value: { address: "::1", portSpecifier: { case: "namedPort", value: "http" } } },
        "[::1]:http",
      ],
      [{ case: "pipe", value: { path: "/run/x" } }, "/run/x"],
      [
        {
          case: "envoyInternalAddress",
          value: { addressNameSpecifier: { case: "serverListenerName", value: "inner" } },
        },
        "inner",
      ],
    ];
    for (const [address, shown] of addresses) {
      const upstreamEndpointStats = [{ address: { address }, totalSuccessfulRequests: 1n }];
      const { clusters } = read(written({ clusterStats: [{ upstreamLocalityStats: [{ upstreamEndpointStats }] }] }));
      const endpoints = clusters[0]?.localities[0]?.endpoints;
      assert.deepEqual(endpoints, [
        { address: shown, successful: 1, errors: 0, inProgress: 0, issued: 0, metrics: [] },
      ]);
    }
  });

  it("the largest numbers are read as closely as possible, and a negative interval as 0", () => {
    const largest = 2n ** 64n - 1n;
    const interval = (seconds: bigint, nanos: number) =>
      read(written({ clusterStats: [{ loadReportInterval: { seconds, nanos }, totalDroppedRequests: largest }] }))
        .clusters[0];
    assert.equal(interval(1n, 0)?.dropped, 2 ** 64);
    assert.deepEqual([interval(-1n, 0)?.intervalMs, interval(0n, -5)?.intervalMs], [0, 0]);
  });

  it("reading stops at each limit", () => {
    const four = [1, 2, 3, 4];
    const details = Array.from({ length: 200_000 }, () => ({}));
    const locality = (parts: object) => [{ upstreamLocalityStats: [parts] }];
    const beyond: readonly [string, MessageInitShape<typeof LoadStatsRequestSchema>][] = [
      ["clusters", { clusterStats: four.map(() => ({})) }],
      [
        "localities",
        {
          clusterStats: four
            .map(() => ({ upstreamLocalityStats: [{}] }))
            .slice(0, 2)
            .concat({ upstreamLocalityStats: [{}, {}] }),
        },
      ],
      ["endpoints", { clusterStats: locality({ upstreamEndpointStats: [...details, {}] }) }],
      ["endpoints", { clusterStats: locality({ upstreamEndpointStats: [{ loadMetricStats: details }] }) }],
      ["endpoints", { clusterStats: locality({ loadMetricStats: details, cpuUtilization: {} }) }],
      ["endpoints", { clusterStats: [{ droppedRequests: [...details, {}] }] }],
      ["1000 bytes", { node: { id: "x".repeat(1_001) } }],
    ];
    for (const [what, request] of beyond) {
      assert.throws(
        () => read(written(request)),
        (error) => error instanceof TooMuchInMessage && error.message.includes(what),
        what,
      );
    }
    assert.equal(read(written({ node: { id: "n", extensions: [{ name: "x".repeat(2_000) }] } })).node?.id, "n");
  });

  it("any bytes are read, or refused with a reason", () => {
    const valid = written({
      node: { id: "n" },
      clusterStats: [
        {
          clusterName: "a",
          upstreamLocalityStats: [{ locality: { zone: "z" }, loadMetricStats: [{ totalMetricValue: 1 }] }],
        },
      ],
    });
    const mangled = fc.tuple(fc.nat(valid.length - 1), fc.nat(255)).map(([at, byte]) => valid.with(at, byte));
    const cutOff = fc.nat(valid.length).map((end) => valid.slice(0, end));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 64 }), mangled, cutOff), (bytes) => {
        try {
          read(bytes);
        } catch (error) {
          assert.ok(error instanceof MalformedMessage || error instanceof TooMuchInMessage, String(error));
        }
      }),
      { numRuns: times(500) },
    );
  });
});
