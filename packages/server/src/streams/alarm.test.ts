import assert from "node:assert/strict";
import { test } from "node:test";
import { Alarm } from "@xdskit/api";
import { manualClock } from "../testing/basics/manual-clock.js";
import { waitFor } from "../testing/basics/wait-for.js";
import { delta } from "../testing/clients/xds-client.js";
import { ads, urlOf, withMemoryServer } from "../testing/running-server.js";
import { cluster, routeConfiguration } from "../testing/test-resources.js";

test("an alarm rings once at the last set time, and not at all if that is never", () => {
  const clock = manualClock();
  const rings: number[] = [];
  const alarm = new Alarm(clock, () => rings.push(clock.now()));
  alarm.set(10);
  alarm.set(20);
  alarm.set(20);
  assert.equal(clock.waiting, 1);
  clock.advance(100);
  assert.deepEqual(rings, [20]);
  alarm.set(150);
  alarm.set(undefined);
  clock.advance(100);
  assert.deepEqual([rings, clock.waiting], [[20], 0]);
});

test("a stream without room is not woken again and again for a response that it cannot send", async () => {
  const clock = manualClock();
  let timers = 0;
  const counted = {
    ...clock,
    after: (ms: number, ring: () => void) => {
      timers += 1;
      return clock.after(ms, ring);
    },
  };
  await withMemoryServer({ clock: counted }, async ({ server, client }) => {
    server.config.set([cluster("a"), cluster("b"), routeConfiguration("r", "a")]);
    const raw = client.open(ads("delta"));
    const stream = delta(raw);
    const ask = async (type: "cluster" | "route", name: string) => {
      stream.send({ node: { id: "n" }, typeUrl: urlOf(type), resourceNamesSubscribe: [name] });
      const { typeUrl, nonce } = await stream.next();
      stream.send({ typeUrl, responseNonce: nonce });
    };
    await ask("route", "r");
    await ask("cluster", "a");
    server.config.set([cluster("b"), cluster("c"), routeConfiguration("r", "b")]);
    const { typeUrl, nonce } = await stream.next();
    stream.send({ typeUrl, responseNonce: nonce });
    // A resource that the client still asks for goes five seconds later.
    await waitFor("the cluster to yield", () => clock.waiting === 1);
    raw.pause();
    server.config.update({ upsert: [routeConfiguration("r", "c")] });
    await waitFor("it to be behind", () => server.stats().streams[0]?.behind === 1);
    const before = timers;
    for (let turn = 0; turn < 50; turn++) {
      clock.advance(turn === 0 ? 60_000 : 0);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(timers - before < 10, `${timers - before} timers in 50 turns`);
    raw.resume();
    await waitFor("it to have caught up", () => server.stats().streams[0]?.behind === 0);
  });
});
