import assert from "node:assert/strict";
import { it } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { createRedactedBody, resourceTypes } from "@xdskit/api";
import { ClientStatusResponseSchema, ConfigStatus } from "@xdskit/api/envoy/service/status/v3/csds";
import { emptySnapshot, type ResourceSet, selectionOf, type TypeStatus, updateSnapshot } from "@xdskit/protocol";
import type { ReportedStream } from "../../contracts/nodes/reported-stream.js";
import { clusterResource } from "../../testing/test-resources.js";
import { type StatusSource, statusAnswer, statusParts } from "./status-answer.js";

const type = resourceTypes.find("cluster")!;
const locality = { region: "", zone: "", subZone: "" };
const node = {
  id: "n1",
  cluster: "",
  locality,
  metadata: {},
  userAgentName: "",
  userAgentVersion: "",
  clientFeatures: [],
};

it("a status answer is made in small steps, from the state in which it began", () => {
  const count = 5_000;
  const before = updateSnapshot(emptySnapshot(), {
    upsert: Array.from({ length: count }, (_, index) => clusterResource(`cluster-${index}`)),
  });
  const source = sourceOf(before.of(type));
  const request = { matches: () => true, contents: false, summary: false, revisions: false };
  const answer = statusParts(source, request);
  let steps = 0;
  for (; ; steps++) {
    const { done, value } = answer.next();
    if (!done) {
      // Other changes go on: from now on the set is not the newest of its lineage.
      if (steps === 10)
        updateSnapshot(before, { upsert: [clusterResource("new"), clusterResource("cluster-4999", "new")] });
      continue;
    }
    const [config] = fromBinary(
      ClientStatusResponseSchema,
      statusAnswer([value.parts], [], { maxBytes: source.maxBytes, request }),
    ).config;
    assert.equal(config?.genericXdsConfigs.length, count);
    assert.ok(config.genericXdsConfigs.every(({ configStatus }) => configStatus === ConfigStatus.SYNCED));
    break;
  }
  assert.ok(steps >= count / 50, `${steps} steps`);
});

function sourceOf(set: ResourceSet): StatusSource {
  const at = { version: set.version, at: 0, published: undefined, set };
  const subscription = selectionOf([], type);
  const status: TypeStatus = {
    type,
    api: "v3",
    subscription,
    wanted: set,
    meanwhile: set,
    sent: at,
    acknowledged: { ...at, names: subscription.names },
    lackedSince: undefined,
    rejected: undefined,
    inFlightCount: 0,
    inFlightSets: [],
    waits: [],
    untoldTtls: 0,
  };
  const method = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;
  const snapshot = { sets: new Map(), of: () => set };
  const stream: ReportedStream = {
    opened: { id: 1, method, peer: "", node, group: "all" },
    openedAt: 0,
    layers: undefined,
    snapshot,
    newest: snapshot,
    isInSync: true,
    outOfSyncSince: 0,
    lagFrom: 0,
    status: () => [status],
  };
  const moment = { now: 0, date: (ms: number) => new Date(ms) };
  return {
    streams: [stream],
    redacted: createRedactedBody(),
    now: () => moment,
    troubles: () => [],
    maxBytes: 100_000_000,
  };
}
