import assert from "node:assert/strict";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { LoadStatsRequestSchema } from "@xdskit/api/envoy/service/load_stats/v3/lrs";
import { ClientStatusRequestSchema } from "@xdskit/api/envoy/service/status/v3/csds";
import fc from "fast-check";
import { damaged } from "../kit/edits.js";
import type { FuzzTarget } from "../kit/target.js";
import { requestBytes, resourceName } from "../requests.js";
import { openServerUnderFuzz, type ServerUnderFuzz, within } from "../server-under-fuzz.js";
import { mistakes } from "./server.js";

interface HostileCall {
  readonly method: string;
  readonly requests: readonly Uint8Array[];
  readonly frame: Frame;
  readonly leave: "finish" | "cancel";
}

/** The frames of messages. */
interface Frame {
  /** 1: compressed. */
  readonly flag: number;
  /** The difference between the written length and the real one. */
  readonly off: number;
  readonly headers: Readonly<Record<string, string>>;
}

const sound: Frame = { flag: 0, off: 0, headers: {} };
const frames: readonly Frame[] = [
  ...Array<Frame>(12).fill(sound),
  { ...sound, flag: 1 },
  { ...sound, flag: 1, headers: { "grpc-encoding": "gzip" } },
  { ...sound, flag: 255 },
  { ...sound, off: 3 },
  { ...sound, off: -3 },
  { ...sound, off: 0x7000_0000 },
  { ...sound, headers: { "grpc-timeout": "soon" } },
  { ...sound, headers: { "content-type": "text/html" } },
];

const discovery = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
const status = "/envoy.service.status.v3.ClientStatusDiscoveryService";
const reports = ["v3", "v2"].map((api) => `/envoy.service.load_stats.${api}.LoadReportingService/StreamLoadStats`);

const count = fc.oneof(fc.bigInt(0n, 10n), fc.constantFrom(2n ** 53n, 2n ** 63n, 2n ** 64n - 1n));
const metric = fc.record({
  metricName: resourceName,
  numRequestsFinishedWithMetric: count,
  totalMetricValue: fc.double(),
});
const locality = fc.record({
  locality: fc.record({ region: resourceName, zone: resourceName, subZone: resourceName }),
  totalSuccessfulRequests: count,
  totalErrorRequests: count,
  totalIssuedRequests: count,
  totalRequestsInProgress: count,
  priority: fc.nat(2 ** 31),
  loadMetricStats: fc.array(metric, { maxLength: 2 }),
  upstreamEndpointStats: fc.array(fc.record({ totalIssuedRequests: count }), { maxLength: 2 }),
});
const load = fc.record({
  clusterName: resourceName,
  clusterServiceName: resourceName,
  upstreamLocalityStats: fc.array(locality, { maxLength: 3 }),
  totalDroppedRequests: count,
  droppedRequests: fc.array(fc.record({ category: resourceName, droppedCount: count }), { maxLength: 3 }),
  loadReportInterval: fc.option(fc.record({ seconds: fc.bigInt(-5n, 2n ** 62n), nanos: fc.integer() }), {
    nil: undefined,
  }),
});
const report = fc
  .record({
    node: fc.option(fc.record({ id: fc.constantFrom("hostile", "n2", "x".repeat(2_000)) }), {
      freq: 5,
      nil: undefined,
    }),
    clusterStats: fc.array(load, { maxLength: 4 }),
  })
  .map((fields) => toBinary(LoadStatsRequestSchema, create(LoadStatsRequestSchema, fields)));
const wholeReport = toBinary(
  LoadStatsRequestSchema,
  create(LoadStatsRequestSchema, {
    node: { id: "hostile", clientFeatures: ["envoy.lrs.supports_send_all_clusters"] },
    clusterStats: [
      {
        clusterName: "a",
        upstreamLocalityStats: [{ locality: { region: "eu" }, totalSuccessfulRequests: 3n, priority: 1 }],
        totalDroppedRequests: 2n,
        droppedRequests: [{ category: "lb", droppedCount: 1n }],
        loadReportInterval: { seconds: 10n },
      },
    ],
  }),
);
const reported = fc.oneof(
  { weight: 4, arbitrary: report },
  { weight: 3, arbitrary: damaged([wholeReport]) },
  fc.constant(wholeReport),
);

const text = fc.oneof(
  ...(["exact", "prefix", "suffix", "contains"] as const).map((kind) =>
    resourceName.map((value) => ({ case: kind, value })),
  ),
  fc
    .oneof(
      fc.constantFrom(".*", "(", "(a+)+b", "((a{9}){9}){9}", "\\C", "(?i)N", "x{1001}"),
      fc.string({ maxLength: 8 }),
    )
    .map((regex) => ({ case: "safeRegex" as const, value: { regex } })),
);
const value = fc.oneof(
  text.map((matchPattern) => ({ case: "stringMatch" as const, value: { matchPattern } })),
  fc.double().map((exact) => ({
    case: "doubleMatch" as const,
    value: { matchPattern: { case: "exact" as const, value: exact } },
  })),
  fc.boolean().map((present) => ({ case: "presentMatch" as const, value: present })),
);
const condition = fc.record({
  path: fc.array(
    fc.constantFrom("a", "b.c", "__proto__", "").map((key) => ({ segment: { case: "key" as const, value: key } })),
    { maxLength: 3 },
  ),
  value: fc.option(
    value.map((matchPattern) => ({ matchPattern })),
    { nil: undefined },
  ),
});
const question = fc
  .record({
    nodeMatchers: fc.array(
      fc.record({
        nodeId: fc.option(fc.record({ matchPattern: text, ignoreCase: fc.boolean() }), { nil: undefined }),
        nodeMetadatas: fc.array(condition, { maxLength: 2 }),
      }),
      { maxLength: 3 },
    ),
    excludeResourceContents: fc.boolean(),
    node: fc.boolean().map((summary) => (summary ? { clientFeatures: ["xdskit.status.summary"] } : undefined)),
  })
  .map((fields) => toBinary(ClientStatusRequestSchema, create(ClientStatusRequestSchema, fields)));
const wholeQuestion = toBinary(
  ClientStatusRequestSchema,
  create(ClientStatusRequestSchema, {
    nodeMatchers: [{ nodeId: { matchPattern: { case: "prefix", value: "n" } } }],
    excludeResourceContents: true,
  }),
);
const asked = fc.oneof(
  { weight: 3, arbitrary: question },
  { weight: 2, arbitrary: damaged([wholeQuestion]) },
  { weight: 2, arbitrary: fc.constant(new Uint8Array()) },
);

const frame = fc.constantFrom(...frames);
const leave = fc.constantFrom<HostileCall["leave"]>("finish", "finish", "finish", "cancel");

const call: fc.Arbitrary<HostileCall> = fc.oneof(
  fc.record({
    method: fc.constantFrom(...reports),
    requests: fc.array(reported, { minLength: 1, maxLength: 5 }),
    leave,
    frame,
  }),
  fc.record({
    method: fc.constant(`${discovery}/StreamAggregatedResources`),
    requests: fc.array(requestBytes("sotw"), { maxLength: 4 }),
    leave,
    frame,
  }),
  fc.record({
    method: fc.constant(`${discovery}/DeltaAggregatedResources`),
    requests: fc.array(requestBytes("delta"), { maxLength: 4 }),
    leave,
    frame,
  }),
  fc.record({
    method: fc.constantFrom(`${status}/StreamClientStatus`, `${status}/FetchClientStatus`),
    requests: fc.array(asked, { minLength: 1, maxLength: 3 }),
    leave,
    frame,
  }),
  fc.record({
    method: fc.constantFrom(
      "/grpc.health.v1.Health/Check",
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters",
      "/envoy.service.health.v3.HealthDiscoveryService/StreamHealthCheck",
      "/nobody/Nothing",
    ),
    requests: fc.array(fc.oneof(fc.uint8Array({ maxLength: 30 }), requestBytes("sotw")), {
      minLength: 1,
      maxLength: 2,
    }),
    leave,
    frame,
  }),
  // A client that watches half-closes and stays.
  fc.record({
    method: fc.constant("/grpc.health.v1.Health/Watch"),
    requests: fc.array(fc.uint8Array({ maxLength: 30 }), { minLength: 1, maxLength: 1 }),
    leave: fc.constant("cancel" as const),
    frame,
  }),
);

/**
 * gRPC itself answers UNKNOWN if the bytes are no message of the service, and UNIMPLEMENTED if there is no message.
 */
const ends = [...mistakes, 2, 5, 12, 13, 14];

export const wire: FuzzTarget = {
  name: "wire",
  suiteRuns: 60,
  async open() {
    const under = await openServerUnderFuzz();
    const { grpc } = await under.server.listen({ grpc: "127.0.0.1:0" });
    let session = connectedTo(grpc);
    let calls = 0;
    const property = fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 3 }), async (some) => {
      calls += some.length;
      if (calls > callsPerSession || session.destroyed) {
        session.destroy();
        session = connectedTo(grpc);
        calls = 0;
      }
      await Promise.all(some.map((one) => live(session, one)));
      await under.assertHealthy();
      await under.assertNothingLeft();
      assertBounded(under);
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: () => under.assertNothingLeft(),
      async close() {
        session.destroy();
        await under.close();
      },
      show: (input) => fc.stringify(input),
    };
  },
};

/** Node cuts a connection on which a thousand streams were cancelled within seconds. */
const callsPerSession = 200;

function connectedTo(address: string): ClientHttp2Session {
  const session = connect(`http://${address}`);
  session.on("error", () => {});
  return session;
}

/**
 * One call, written frame by frame: gRPC's own Node client does not always tell the server that a call is cancelled.
 */
async function live(session: ClientHttp2Session, { method, requests, frame, leave: how }: HostileCall): Promise<void> {
  const head = { ":method": "POST", ":path": method, "content-type": "application/grpc", te: "trailers" };
  const stream = session.request({ ...head, ...frame.headers });
  const said: Record<string, unknown> = {};
  stream.on("response", (headers) => Object.assign(said, headers));
  stream.on("trailers", (trailers) => Object.assign(said, trailers));
  stream.on("error", () => {});
  stream.resume();
  const closed = new Promise<void>((resolve) => stream.once("close", () => resolve()));
  for (const bytes of requests) {
    const start = Buffer.from([frame.flag, 0, 0, 0, 0]);
    start.writeUInt32BE(Math.max(0, bytes.length + frame.off), 1);
    stream.write(Buffer.concat([start, bytes]));
  }
  if (how === "cancel") {
    // Node does not always report the end of a stream that it cancelled itself. A later check shows that the server
    // ended it.
    stream.close(constants.NGHTTP2_CANCEL);
    await Promise.race([closed, sleep(20)]);
    return;
  }
  stream.end();
  await within(`the end of ${method}`, closed);
  if (frame !== sound) return;
  const code = Number(said["grpc-status"]);
  const told = `${method} ended with ${code}: ${String(said["grpc-message"])}`;
  // UNIMPLEMENTED also says that a call of one request had two.
  const known = code === 12 || mistakes.includes(code) || (code === 13 && method.includes("Fetch"));
  assert.ok(known || (!method.includes("Discovery") && !reports.includes(method)), told);
  assert.ok(ends.includes(code), told);
}

/** The reports of clients are numbers, and not more than there may be. */
function assertBounded({ server }: ServerUnderFuzz): void {
  const { localities, drops } = server.loadTotals();
  // Two clusters are known, and all others share a row.
  assert.ok(localities.length <= 3 * 201, `${localities.length} localities`);
  assert.ok(drops.length <= 3 * 52, `${drops.length} drops`);
  for (const { successful, errors, issued, inProgress } of localities)
    for (const number of [successful, errors, issued, inProgress])
      assert.ok(number >= 0 && number < Infinity, `${number}`);
  for (const one of server.loadReports()) {
    assert.ok(one.intervalMs >= 0 && Number.isFinite(one.intervalMs), `an interval of ${one.intervalMs} ms`);
    assert.ok(one.dropped >= 0 && Number.isFinite(one.dropped), `${one.dropped} dropped`);
  }
}
