import assert from "node:assert/strict";
import type { OutgoingResponse, Stream, StreamEffect, StreamEvent, Variant } from "../index.js";
import { decodeResponse } from "./wire.js";

/** One stream of a client twice: what the two say must be the same, whatever each is given it by. */
export type Ends = readonly [Stream, Stream];

/** Both take an event, each its own, and say the same of it. */
export function stepBoth([one, other]: Ends, event: (which: 0 | 1) => StreamEvent, now: number): void {
  const said = [one.step(event(0), now), other.step(event(1), now)].map((effects) => effects.map(described));
  assert.deepEqual(said[0], said[1]);
}

/** The next response of both, which must be the same; undefined where there is none. */
export function nextOfBoth([first, second]: Ends, variant: Variant, now: number): OutgoingResponse | undefined {
  const [one, other] = [first.next(now), second.next(now)];
  assert.deepEqual(seen(variant, one), seen(variant, other));
  return one;
}

/** Of both the same is known. */
export function assertSame([one, other]: Ends): void {
  assert.deepEqual(state(one), state(other));
}

function described(effect: StreamEffect): readonly unknown[] {
  if (effect.kind === "identified" || effect.kind === "close") return [effect.kind];
  const { version, nonce } = { version: undefined, nonce: undefined, ...effect };
  return [effect.kind, effect.type.name, version, nonce];
}

/** In which order a response has its resources depends on how its set was read. */
function seen(variant: Variant, response: OutgoingResponse | undefined): unknown {
  if (response === undefined) return undefined;
  const { resources, removed, ...more } = decodeResponse(variant, response);
  return { ...more, resources: resources.map((one) => JSON.stringify(one)).sort(), removed: [...removed].sort() };
}

/** What is known of a client, in words; the order of waits and their names depends on how sets were read, too. */
function state(stream: Stream): unknown {
  return [
    stream.isSettled,
    stream.deadline(),
    stream
      .status()
      .map(({ type, wanted, sent, acknowledged, rejected, outstanding, onTheirWay, waits }) => [
        ...[type.name, wanted?.version, sent?.version, sent?.set.version, sent?.at],
        ...[acknowledged?.version, acknowledged?.at, acknowledged?.set.version, rejected?.version, outstanding],
        ...[
          onTheirWay?.map(({ version }) => version),
          waits.map(({ kind, names }) => [kind, ...[...names].sort()].join()).sort(),
        ],
      ]),
  ];
}
