import assert from "node:assert/strict";
import { test } from "node:test";
import { flood } from "./flood/flood.js";
import { askAgainAndAgain } from "./flood/others.js";
import { serveTenants } from "./flood/server.js";

test("one identity at all its limits refuses nobody else anything, and leaves nothing behind", async (t) => {
  const { server, grpc, rest } = await serveTenants({
    streamsPerIdentity: 20,
    pollsPerIdentity: 5,
    retainedBytesPerIdentity: 200_000,
    requestsPerSecondPerIdentity: 200,
    requestBurstPerIdentity: 200,
  });
  t.after(() => server.close());
  const reached = () => new Map(server.stats().identityLimits.map(({ limit, count }) => [limit, count]));
  const all = [
    ...[
      "streams_per_identity",
      "polls_per_identity",
      "retained_bytes_per_identity",
      "requests_per_second_per_identity",
    ],
  ];
  let isOver = false;
  const wild = flood(
    { token: "wild", tenant: "wild", grpc, rest },
    { streams: 30, names: 30, polls: 10 },
    () => isOver,
  );
  const calm = await askAgainAndAgain(
    { token: "calm", tenant: "calm", grpc, rest },
    (asked) => asked >= 50 && all.every((limit) => (reached().get(limit) ?? 0) >= 1),
  );
  isOver = true;
  const flooded = await wild;
  assert.deepEqual(calm.refused, []);
  assert.ok((flooded.polls[429] ?? 0) > 0, JSON.stringify(flooded));
  assert.deepEqual(
    Object.keys(flooded.streams).filter((status) => !["8", "-1"].includes(status)),
    [],
  );
  const open = () => {
    const { streams, polls } = server.stats();
    return streams.reduce((sum, one) => sum + one.open, 0) + polls.reduce((sum, { parked }) => sum + parked, 0);
  };
  while (open() > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const again = await askAgainAndAgain({ token: "wild", tenant: "wild", grpc, rest }, (asked) => asked === 1);
  assert.deepEqual([again.ms.length, again.refused], [1, []], "its share is free again");
});
