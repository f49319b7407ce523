import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { ConnectionsLog } from "./connections-log.js";
import type { Log } from "./log.js";
import type { LogEvent } from "./log-events.js";

test("clients that come and go are summed up, at most every ten seconds", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const lines: object[] = [];
    const info = (_: LogEvent, fields: object) => void lines.push(fields);
    let now = 0;
    const log = new ConnectionsLog({ info } as unknown as Log, () => now);
    const wait = (ms: number) => {
      now += ms;
      mock.timers.tick(ms);
    };
    for (let index = 0; index < 1_000; index += 1) log.came(`edge-${index}`);
    wait(1_000);
    const nodes = ["edge-0", "edge-1", "edge-2"];
    assert.deepEqual(lines.splice(0), [{ connected: 1_000, disconnected: 0, open: 1_000, nodes }]);
    log.went();
    wait(9_000);
    assert.deepEqual(lines, []);
    log.came("shop-1");
    wait(1_000);
    assert.deepEqual(lines.splice(0), [{ connected: 1, disconnected: 1, open: 1_000, nodes: ["shop-1"] }]);
    wait(60_000);
    log.went();
    wait(1_000);
    assert.deepEqual(lines.splice(0), [{ connected: 0, disconnected: 1, open: 999 }]);
  } finally {
    mock.timers.reset();
  }
});
