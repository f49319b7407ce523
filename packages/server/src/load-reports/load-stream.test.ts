import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { LoadStatsRequestSchema, LoadStatsResponseSchema } from "@xdskit/api/envoy/service/load_stats/v3/lrs";
import { emptySnapshot, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import { defaultServerLimits } from "../settings/limits.js";
import { settingsOf } from "../settings/load-report-settings.js";
import { types } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import { createLoadStream } from "./load-stream.js";

const all = settingsOf();
const request = (clientFeatures: string[] = []) =>
  toBinary(LoadStatsRequestSchema, create(LoadStatsRequestSchema, { node: { id: "n", clientFeatures } }));
const snapshot = (...names: string[]): Snapshot =>
  updateSnapshot(emptySnapshot(), { upsert: names.map((name) => createResource(cluster(name))) });
const clusters = (from: Snapshot) => from.of(types.cluster);

function identified(bytes: Uint8Array) {
  const stream = createLoadStream({ limits: defaultServerLimits, defaultNode: undefined });
  assert.deepEqual(
    stream.step({ kind: "request", bytes }).map(({ kind }) => kind),
    ["identified"],
  );
  return stream;
}

describe("a stream of load reports", () => {
  it("a stream sends nothing before it knows its node and the wanted clusters", () => {
    const stream = createLoadStream({ limits: defaultServerLimits, defaultNode: undefined });
    stream.step({ kind: "wanted", settings: all, clusters: clusters(snapshot("a")) });
    assert.equal(stream.next(), undefined);
    stream.step({ kind: "request", bytes: request() });
    assert.ok(stream.next());
    assert.equal(stream.next(), undefined);
  });

  it("a response names the newest clusters when it is asked for, and not those in between", () => {
    const stream = identified(request());
    const first = snapshot("a");
    stream.step({ kind: "wanted", settings: all, clusters: clusters(first) });
    stream.next();
    const second = updateSnapshot(first, { upsert: [createResource(cluster("b"))] });
    stream.step({ kind: "wanted", settings: all, clusters: clusters(second) });
    const third = updateSnapshot(second, { remove: [{ type: types.cluster, name: "b" }] });
    stream.step({ kind: "wanted", settings: all, clusters: clusters(third) });
    // The same names as at first: the client was told of nothing else.
    assert.equal(stream.next(), undefined);
    const fourth = updateSnapshot(third, { upsert: [createResource(cluster("c"))] });
    stream.step({ kind: "wanted", settings: all, clusters: clusters(fourth) });
    assert.deepEqual(fromBinary(LoadStatsResponseSchema, stream.next() ?? assert.fail()).clusters, ["a", "c"]);
  });

  it("one response is written for all clients that are told the same names", () => {
    const wanted = { kind: "wanted", settings: all, clusters: clusters(snapshot("a", "b")) } as const;
    const [one, other] = [identified(request()), identified(request())];
    for (const stream of [one, other]) stream.step(wanted);
    const response = one.next();
    assert.ok(response !== undefined && response === other.next());
  });

  it("no snapshot is needed for a client that sends all clusters, nor for names in the settings", () => {
    for (const [bytes, settings] of [
      [request(["envoy.lrs.supports_send_all_clusters"]), all],
      [request(), settingsOf({ clusters: ["x"] })],
    ] as const) {
      const stream = identified(bytes);
      stream.step({ kind: "wanted", settings, clusters: undefined });
      assert.ok(stream.next());
      stream.step({ kind: "wanted", settings, clusters: clusters(snapshot("a")) });
      assert.equal(stream.next(), undefined);
    }
  });

  it("a closed stream takes nothing more", () => {
    const stream = createLoadStream({ limits: defaultServerLimits, defaultNode: undefined });
    assert.equal(stream.step({ kind: "request", bytes: Uint8Array.of(1) })[0]?.kind, "close");
    assert.deepEqual(stream.step({ kind: "request", bytes: request() }), []);
    assert.equal(stream.next(), undefined);
  });
});
