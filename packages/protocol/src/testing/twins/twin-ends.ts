import assert from "node:assert/strict";
import type { OutgoingResponse, SotwOrDelta, Stream, StreamEffect, StreamEvent } from "../../index.js";
import { decodeResponse } from "../wire.js";

/** One stream of a client twice: both must send the same, however each was given its snapshots. */
export type Ends = readonly [Stream, Stream];

/** Both take an event, each its own, and must have the same effects. */
export function stepBoth([one, other]: Ends, event: (which: 0 | 1) => StreamEvent, now: number): void {
  const said = [one.step(event(0), now), other.step(event(1), now)].map((effects) => effects.map(described));
  assert.deepEqual(said[0], said[1]);
}

/** The next response of both, which must be the same; undefined if there is none. */
export function nextOfBoth([first, second]: Ends, variant: SotwOrDelta, now: number): OutgoingResponse | undefined {
  const [one, other] = [first.next(now), second.next(now)];
  assert.deepEqual(seen(variant, one), seen(variant, other));
  return one;
}

/** Both must have the same status. */
export function assertSame([one, other]: Ends): void {
  assert.deepEqual(state(one), state(other));
}

function described(effect: StreamEffect): readonly unknown[] {
  if (effect.kind === "identified" || effect.kind === "close") return [effect.kind];
  const { version, nonce } = { version: undefined, nonce: undefined, ...effect };
  return [effect.kind, effect.type.name, version, nonce];
}

/** The order of resources in a response depends on how its set was read. */
function seen(variant: SotwOrDelta, response: OutgoingResponse | undefined): unknown {
  if (response === undefined) return undefined;
  const { resources, removed, ...more } = decodeResponse(variant, response);
  return { ...more, resources: resources.map((one) => JSON.stringify(one)).sort(), removed: [...removed].sort() };
}

/** The state of a client in words. The order of waits and their names also depends on how sets were read. */
function state(stream: Stream): unknown {
  return [
    stream.isInSync,
    stream.deadline(),
    stream
      .status()
      .map(({ type, wanted, sent, acknowledged, rejected, inFlightCount, inFlightSets, waits }) => [
        type.name,
        wanted?.version,
        sent?.version,
        sent?.set.version,
        sent?.at,
        acknowledged?.version,
        acknowledged?.at,
        acknowledged?.set.version,
        rejected?.version,
        inFlightCount,
        inFlightSets?.map(({ version }) => version),
        waits.map(({ kind, names }) => [kind, ...[...names].sort()].join()).sort(),
      ]),
  ];
}
