import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { limitLines } from "./line-limit.js";
import type { Log } from "./log.js";
import type { LogEvent } from "./log-events.js";

/** A limited log with its output. Its clock moves only with `wait`. */
function limited() {
  const lines: [level: string, message: string, fields: object][] = [];
  const at = (level: string) => (_: LogEvent, fields: object, message: string) =>
    void lines.push([level, message, fields]);
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  let now = 0;
  return {
    log: limitLines(log, () => now),
    taken: () => lines.splice(0),
    wait(ms: number) {
      now += ms;
      mock.timers.tick(ms);
    },
  };
}

test("2,000 lines of one kind are written at once and 200 a second, and one line says how many were left out", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { log, taken, wait } = limited();
    for (let index = 0; index < 5_000; index++) log.warn("fault", { index }, "refused");
    log.info("fault", {}, "client connected");
    log.error("fault", {}, "refused");
    assert.deepEqual(
      taken()
        .slice(1_999)
        .map(([level, message]) => [level, message]),
      [
        ["warn", "refused"],
        ["info", "client connected"],
        ["error", "refused"],
      ],
    );
    wait(1_000);
    const leftOut = "lines of the log were left out: there were too many of a kind";
    assert.deepEqual(taken(), [["warn", leftOut, { leftOut: 3_000, line: "refused" }]]);
    for (let index = 0; index < 300; index++) log.warn("fault", {}, "refused");
    assert.equal(taken().length, 200);
    wait(1_000);
    assert.deepEqual(taken(), [["warn", leftOut, { leftOut: 100, line: "refused" }]]);
    wait(60_000);
    assert.deepEqual(taken(), []);
  } finally {
    mock.timers.reset();
  }
});

test("lines for debug are all written", () => {
  const { log, taken } = limited();
  for (let index = 0; index < 3_000; index++) log.debug("fault", {}, "acknowledged");
  assert.equal(taken().length, 3_000);
});
