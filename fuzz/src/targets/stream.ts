import assert from "node:assert/strict";
import { create, fromBinary } from "@bufbuild/protobuf";
import { type ApiVersion, createResource, type Resource, resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import {
  createStream,
  defaultStreamLimits,
  emptySnapshot,
  type OutgoingResponse,
  type Snapshot,
  type SotwOrDelta,
  statusCode,
  updateSnapshot,
} from "@xdskit/protocol";
import fc from "fast-check";
import type { FuzzTarget } from "../kit/target.js";
import { requestBytes, wholeRequests } from "../requests.js";

/** The events of one stream. */
type Step =
  | { readonly kind: "request"; readonly bytes: Uint8Array }
  | { readonly kind: "change"; readonly what: number };

interface Life {
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  readonly only: string | undefined;
  readonly steps: readonly Step[];
}

/** A stream that begins well lives longer than one that does not. */
function stepsOf(variant: SotwOrDelta): fc.Arbitrary<readonly Step[]> {
  const request = requestBytes(variant).map((bytes): Step => ({ kind: "request", bytes }));
  const change = fc.nat(20).map((what): Step => ({ kind: "change", what }));
  const good = fc.constant<Step>({ kind: "request", bytes: wholeRequests[variant] });
  return fc
    .tuple(
      fc.oneof({ weight: 5, arbitrary: good }, request),
      fc.array(fc.oneof({ weight: 3, arbitrary: request }, change), { maxLength: 8 }),
    )
    .map(([first, more]) => [first, ...more]);
}

const life: fc.Arbitrary<Life> = fc.constantFrom("sotw" as const, "delta" as const).chain((variant) =>
  fc.record({
    variant: fc.constant(variant),
    api: fc.constantFrom("v3" as const, "v2" as const),
    only: fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      fc.constantFrom("cluster", "endpoint", "virtual-host"),
    ),
    steps: stepsOf(variant),
  }),
);
const allowed: readonly number[] = [statusCode.invalidArgument, statusCode.resourceExhausted];
const limits = { ...defaultStreamLimits, namesPerRequest: 100, namesPerStream: 150, typesPerStream: 5 };

export const stream: FuzzTarget = {
  name: "stream",
  suiteRuns: 600,
  async open() {
    const ends = { closed: 0, open: 0 };
    const property = fc.asyncProperty(life, async (one) => {
      if (live(one)) ends.closed++;
      else ends.open++;
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      async finish() {
        // Some runs must close the stream, and some must not.
        const { closed, open } = ends;
        if (closed + open >= 500) assert.ok(closed > open / 10 && open > closed / 10, JSON.stringify(ends));
      },
      close: async () => {},
      show: (input) => fc.stringify(input),
    };
  },
};

/** Plays the events. Returns whether the stream was closed. */
function live({ variant, api, only, steps }: Life): boolean {
  const type = only === undefined ? undefined : resourceTypes.find(only);
  const machine = createStream({ variant, api, types: resourceTypes, only: type, limits, defaultNode: undefined });
  const nonces = new Set<string>();
  let snapshot = snapshotAfter(emptySnapshot(), 0);
  let identified = false;
  for (const one of steps) {
    if (one.kind === "change") {
      snapshot = snapshotAfter(snapshot, one.what);
      if (identified) machine.step({ kind: "snapshot", snapshot });
    } else {
      const effects = machine.step({ kind: "request", bytes: one.bytes });
      const close = effects.find(({ kind }) => kind === "close");
      if (close?.kind === "close") {
        assert.ok(allowed.includes(close.code), `closed with ${close.code}: ${close.message}`);
        assert.ok(close.message.length < 1_000, `a message of ${close.message.length} characters`);
        assert.deepEqual(machine.step({ kind: "request", bytes: one.bytes }), []);
        assert.equal(machine.next(), undefined);
        return true;
      }
      if (effects.some(({ kind }) => kind === "identified")) {
        identified = true;
        machine.step({ kind: "snapshot", snapshot });
      }
    }
    for (let sent = 0, response = machine.next(); response !== undefined; response = machine.next()) {
      assert.ok(sent++ < 20, "responses without end");
      assert.ok(!nonces.has(response.nonce), `nonce ${response.nonce} comes twice (rule 3)`);
      nonces.add(response.nonce);
      assertWellFormed(variant, response);
    }
  }
  return false;
}

function assertWellFormed(variant: SotwOrDelta, { body, tail, nonce, type }: OutgoingResponse): void {
  const bytes = Buffer.concat([body.bytes, tail]);
  if (variant === "sotw") {
    const response = fromBinary(DiscoveryResponseSchema, bytes);
    assert.equal(response.nonce, nonce);
    assert.ok([type.typeUrl, type.v2TypeUrl].includes(response.typeUrl), response.typeUrl);
    return;
  }
  const { resources, removedResources, ...response } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
  assert.equal(response.nonce, nonce);
  // Rules 95, 96: nothing is named twice.
  const named = [...resources.map(({ name }) => name), ...removedResources];
  assert.equal(new Set(named).size, named.length, JSON.stringify(named));
}

const cluster = (name: string, content: number, aliases: readonly string[] = []): Resource =>
  createResource(create(ClusterSchema, { name, altStatName: `${content}` }), { aliases });
const endpoint = (name: string): Resource => createResource(create(ClusterLoadAssignmentSchema, { clusterName: name }));

/** The next snapshot: something comes, changes or goes. */
function snapshotAfter(snapshot: Snapshot, what: number): Snapshot {
  const upsert = [
    cluster("a", what, ["alias"]),
    ...(what % 3 === 0 ? [cluster("b", what), endpoint("a")] : []),
    ...(what % 5 === 0
      ? [cluster("xdstp://a/envoy.config.cluster.v3.Cluster/b/c?x=1&y=2", what), cluster("ü", what)]
      : []),
  ];
  const remove = what % 4 === 1 ? [cluster("b", 0)] : [];
  return updateSnapshot(snapshot, { upsert, remove });
}
