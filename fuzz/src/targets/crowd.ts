import assert from "node:assert/strict";
import { fromBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { MalformedMessage, type SotwOrDelta } from "@xdskit/protocol";
import fc from "fast-check";
import { CrowdClient } from "../../../packages/fleet/src/crowd/crowd-client.js";
import { SharedState } from "../../../packages/fleet/src/crowd/shared-state.js";
import type { FuzzTarget } from "../kit/target.js";
import { responses } from "./client.js";

/** The events of two clients of one crowd: a response to one may go to the other too. */
interface Step {
  readonly to: "one" | "both";
  readonly bytes: Uint8Array;
  readonly cuts: boolean;
  readonly rejects: boolean;
}

const story = fc.constantFrom("sotw" as const, "delta" as const).chain((variant) =>
  fc.record({
    variant: fc.constant<SotwOrDelta>(variant),
    steps: fc.array(
      fc.record<Step>({
        to: fc.constantFrom("one", "both"),
        bytes: responses(variant, "v3"),
        cuts: fc.boolean(),
        rejects: fc.boolean(),
      }),
      { minLength: 1, maxLength: 10 },
    ),
  }),
);

export const crowd: FuzzTarget = {
  name: "crowd",
  suiteRuns: 200,
  async open() {
    const seen = { taken: 0, malformed: 0 };
    const property = fc.asyncProperty(story, async ({ variant, steps }) => live(variant, steps, seen));
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      async finish() {
        // Both cases must occur.
        if (seen.taken >= 2_000) assert.ok(seen.malformed > 20, JSON.stringify(seen));
      },
      close: async () => {},
      show: (input) => fc.stringify(input),
    };
  },
};

/**
 * Whatever a server sends, a client reads it or reports that it is malformed, answers it once, and answers like one
 * that shares nothing.
 */
function live(variant: SotwOrDelta, steps: readonly Step[], seen: { taken: number; malformed: number }): void {
  const interests = ["cluster", "endpoint", "listener"].flatMap((name) => {
    const type = resourceTypes.find(name);
    return type === undefined ? [] : [{ type }];
  });
  const make = () => new SharedState({ variant, aggregated: true, interests });
  const shared = make();
  /** Two clients that share, and beside each one that gets the same events alone. */
  const pairs = [0, 1].map(() => [shared, make()].map((state) => new CrowdClient(state, new Uint8Array(), 0)));
  for (const client of pairs.flat()) pulled(client, variant);
  for (const { to, bytes, cuts, rejects } of steps) {
    for (const client of pairs.slice(0, to === "both" ? 2 : 1).flat()) {
      receive(client, bytes, rejects, seen);
      pulled(client, variant);
      if (!cuts) continue;
      client.closed(0);
      pulled(client, variant);
    }
    const current = (client: CrowdClient) => client.current.map(({ version, size }) => `${version} ${size}`);
    for (const [sharing, alone] of pairs) assert.deepEqual(sharing && current(sharing), alone && current(alone));
  }
}

function receive(
  client: CrowdClient,
  bytes: Uint8Array,
  rejects: boolean,
  seen: { taken: number; malformed: number },
): void {
  try {
    const received = client.receive(0, bytes);
    if (received === undefined) return;
    received.answer(received.problem ?? (rejects ? "no" : undefined));
    seen.taken++;
  } catch (error) {
    assert.ok(error instanceof MalformedMessage, String(error));
    seen.malformed++;
  }
}

/** Pulls all requests, which must be readable, and must end. */
function pulled(client: CrowdClient, variant: SotwOrDelta): void {
  for (let count = 0, request = client.next(0); request !== undefined; request = client.next(0)) {
    assert.ok(count++ < 10, "requests without end");
    fromBinary(variant === "sotw" ? DiscoveryRequestSchema : DeltaDiscoveryRequestSchema, request.bytes);
  }
}
