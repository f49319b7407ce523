import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAddress } from "@xdskit/server/address";
import { prepareFleet } from "./prepare-fleet.js";
import { usualFleet } from "./testing/usual-fleet.js";

test("a refused connection is reported although the machine was busy until the time was over", async () => {
  const nowhere = parseAddress("127.0.0.1:1") ?? assert.fail();
  const { fleet, play } = await prepareFleet({ ...usualFleet, servers: [nowhere], timeout: 100 });
  try {
    const playing = play(new Promise(() => {}));
    const until = performance.now() + 200;
    while (performance.now() < until);
    const { errors } = await playing;
    assert.match(JSON.stringify(errors), /ECONNREFUSED/);
  } finally {
    fleet.close();
  }
});
