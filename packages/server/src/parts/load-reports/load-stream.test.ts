import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { LoadStatsRequestSchema, LoadStatsResponseSchema } from "@xdskit/api/envoy/service/load_stats/v3/lrs";
import { emptySnapshot, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import { defaultServerLimits } from "../../settings/limits.js";
import { settingsOf } from "../../settings/load-report-settings.js";
import { types } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";
import { LoadStream } from "./load-stream.js";

const all = settingsOf();
const request = (clientFeatures: string[] = []) =>
  toBinary(LoadStatsRequestSchema, create(LoadStatsRequestSchema, { node: { id: "n", clientFeatures } }));
const snapshot = (...names: string[]): Snapshot =>
  updateSnapshot(emptySnapshot(), { upsert: names.map((name) => createResource(cluster(name))) });
const clusters = (from: Snapshot) => from.of(types.cluster);

function identified(bytes: Uint8Array) {
  const stream = new LoadStream(defaultServerLimits, undefined);
  const read = stream.receive(bytes);
  assert.ok("node" in read && read.node?.id === "n");
  return stream;
}

describe("a stream of load reports", () => {
  it("a stream sends nothing before it knows its node", () => {
    const stream = new LoadStream(defaultServerLimits, undefined);
    const wanted = clusters(snapshot("a"));
    assert.equal(stream.next(all, wanted), undefined);
    stream.receive(request());
    assert.ok(stream.next(all, wanted));
    assert.equal(stream.next(all, wanted), undefined);
  });

  it("an interval with a fraction of a millisecond is told to the millisecond", () => {
    const response = identified(request()).next(settingsOf({ intervalMs: 1_000.1 }), clusters(snapshot("a")));
    const { loadReportingInterval: interval } = fromBinary(LoadStatsResponseSchema, response ?? new Uint8Array());
    assert.deepEqual([interval?.seconds, interval?.nanos], [1n, 0]);
  });

  it("a response names the newest clusters when it is asked for, and not those in between", () => {
    const stream = identified(request());
    const first = snapshot("a");
    assert.ok(stream.next(all, clusters(first)));
    const second = updateSnapshot(first, { upsert: [createResource(cluster("b"))] });
    const third = updateSnapshot(second, { remove: [{ type: types.cluster, name: "b" }] });
    // The same names as at first: the client was told of nothing else.
    assert.equal(stream.next(all, clusters(third)), undefined);
    const fourth = updateSnapshot(third, { upsert: [createResource(cluster("c"))] });
    const response = stream.next(all, clusters(fourth)) ?? assert.fail();
    assert.deepEqual(fromBinary(LoadStatsResponseSchema, response).clusters, ["a", "c"]);
  });

  it("one response is written for all clients that are told the same names", () => {
    const wanted = clusters(snapshot("a", "b"));
    const response = identified(request()).next(all, wanted);
    assert.ok(response !== undefined && response === identified(request()).next(all, wanted));
  });

  it("no snapshot is needed for a client that sends all clusters, nor for names in the settings", () => {
    for (const [bytes, settings] of [
      [request(["envoy.lrs.supports_send_all_clusters"]), all],
      [request(), settingsOf({ clusters: ["x"] })],
    ] as const) {
      const stream = identified(bytes);
      assert.ok(stream.next(settings, undefined));
      assert.equal(stream.next(settings, clusters(snapshot("a"))), undefined);
    }
  });

  it("a request that is malformed, or has no node, ends a stream", () => {
    for (const bytes of [Uint8Array.of(1), new Uint8Array()]) {
      const stream = new LoadStream(defaultServerLimits, undefined);
      const read = stream.receive(bytes);
      assert.ok("code" in read && read.code === 3);
      assert.equal(stream.next(all, clusters(snapshot("a"))), undefined);
    }
  });
});
