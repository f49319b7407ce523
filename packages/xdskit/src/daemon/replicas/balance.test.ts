import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { randomFrom } from "../../../../server/src/testing/basics/random.js";
import { Balance, surplusOf } from "./balance.js";

/**
 * Plays servers with this many connections each for two hours. `next` says which server a client that was asked to go
 * comes to. Returns what each has at the end, and how many were asked.
 */
function play(connections: number[], next: (from: number) => number) {
  const balances = connections.map(() => new Balance());
  const due = connections.map((_, at) => at * 700);
  let asked = 0;
  for (let now = 0; now < 2 * 3_600_000; now += 100) {
    for (const [at, balance] of balances.entries()) {
      if ((due[at] ?? 0) > now) continue;
      const others = connections.filter((_, other) => other !== at);
      const { ask, askMs, restMs } = balance.next({ own: connections[at] ?? 0, others });
      due[at] = now + askMs + restMs;
      asked += ask;
      connections[at] = (connections[at] ?? 0) - ask;
      for (let count = 0; count < ask; count += 1) {
        const to = next(at);
        connections[to] = (connections[to] ?? 0) + 1;
      }
    }
  }
  return { connections, asked };
}

describe("the balance of servers", () => {
  it("asks nobody to go where clients are spread well, or there is one server", () => {
    assert.equal(surplusOf({ own: 1_000, others: [] }), 0);
    assert.equal(surplusOf({ own: 105, others: [100, 95] }), 0);
    assert.equal(surplusOf({ own: 2, others: [0, 1] }), 0);
    assert.equal(surplusOf({ own: 50, others: [50, 0] }), 16);
  });

  for (const fleet of [30, 1_000, 10_000]) {
    it(`spreads ${fleet} clients over a server that came back, and then leaves them in peace`, () => {
      const random = randomFrom(fleet);
      const { connections, asked } = play([fleet / 2, fleet / 2, 0], () => random(3));
      for (const [at, own] of connections.entries()) {
        const others = connections.filter((_, other) => other !== at);
        assert.equal(surplusOf({ own, others }), 0, `${connections}`);
      }
      // Each asked client comes to the empty server with a chance of one in three; a third of all must go there.
      assert.ok(asked < 1.5 * fleet, `asked ${asked}`);
    });
  }

  it("asks more and more rarely where every client comes back to the server that it had", () => {
    const { asked } = play([50, 50, 0], (from) => from);
    // Two servers, 16 clients each time: about ten times while the wait grows, then every ten minutes.
    assert.ok(asked > 0 && asked < 2 * 16 * 20, `asked ${asked}`);
  });
});
