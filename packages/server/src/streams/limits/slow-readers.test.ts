import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SotwOrDelta } from "@xdskit/protocol";
import { waitFor } from "../../testing/basics/wait-for.js";
import { follow, windowBytes } from "../../testing/follower.js";
import { type Running, withServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";

const sentBy = ({ server }: Running) => server.stats().types.reduce((sum, { responses }) => sum + responses, 0);
const behindOf = ({ server }: Running) => server.stats().streams.reduce((sum, { behind }) => sum + behind, 0);

/** One of two clients stops to read, while the other follows many changes; then it goes on. */
async function stall(running: Running, variant: SotwOrDelta, bytes: number, changes: number) {
  const { server, address } = running;
  const publish = (change: number) => server.config.set([cluster("a", `${change} ${"x".repeat(bytes)}`)]);
  publish(0);
  const healthy = follow(address, variant);
  const stalled = follow(address, variant);
  try {
    await waitFor("the first answers", () => healthy.seen.length === 1 && stalled.seen.length === 1);
    stalled.pause();
    for (let change = 1; change <= changes; change++) {
      publish(change);
      await waitFor(`change ${change}`, () => healthy.seen.at(-1) === change);
    }
    const sent = sentBy(running) - healthy.seen.length;
    const behind = behindOf(running);
    stalled.resume();
    await waitFor("the newest", () => stalled.seen.at(-1) === changes);
    return { sent, behind, seen: stalled.seen };
  } finally {
    healthy.close();
    stalled.close();
  }
}

describe("a client that stops to read", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`a client that stops reading holds one response that does not fit its window, and gets one composed change when it goes on (${variant})`, () =>
      withServer({}, async (running) => {
        const { sent, behind, seen } = await stall(running, variant, 200_000, 40);
        // The first response, and the one whose beginning fit its window.
        assert.deepEqual({ sent, behind, seen }, { sent: 2, behind: 1, seen: [0, 1, 40] });
      }));

    it(`a client that stops reading holds the responses that fit its window and one more, whatever changes meanwhile (${variant})`, () =>
      withServer({}, async (running) => {
        const { behind, seen } = await stall(running, variant, 2_000, 120);
        assert.equal(behind, 1);
        const before = seen.length - 1;
        // One response after another until the window is full, and then nothing but the newest.
        assert.deepEqual(seen, [...Array.from({ length: before }, (_, change) => change), 120]);
        assert.ok(before <= windowBytes / 2_000 + 2, `${before} responses went out`);
      }));
  }
});
