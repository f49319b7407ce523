import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "./log.js";
import type { LogFormat, LogLevel } from "./log-options.js";

function logged(format: LogFormat, level: LogLevel, write: (log: ReturnType<typeof createLog>) => void): string {
  let err = "";
  write(
    createLog(
      {
        err: (text) => {
          err += text;
        },
      },
      { level, format },
    ),
  );
  return err;
}

test("the pretty format has time, level, message and fields on one line", () => {
  const text = logged("pretty", "info", (log) => {
    log.warn("fault", { node: "edge-1", reason: "no such cluster", names: 2, file: undefined }, "rejected");
    log.debug("fault", {}, "not at this level");
  });
  assert.match(text, /^\d\d:\d\d:\d\d\.\d{3} warn {2}rejected {2}node=edge-1 reason="no such cluster" names=2\n$/);
});

test("a client's text cannot forge a line or move the cursor", () => {
  const text = logged("pretty", "info", (log) => log.info("fault", { node: "a\n\u001b[2K\u202eb" }, "c\r\nd"));
  assert.match(text, /info {2}c\\u\{d\}\\u\{a\}d {2}node="a\\n\\u001b\[2K\\u\{202e\}b"\n$/);
});

test("the json format has one object a line, with the level's name and an ISO time", () => {
  const text = logged("json", "debug", (log) => log.debug("fault", { node: "a\nb" }, "hello"));
  const { time, ...rest } = JSON.parse(text) as { time: string };
  assert.deepEqual(rest, { level: "debug", event: "fault", node: "a\nb", msg: "hello" });
  assert.equal(new Date(time).toISOString(), time);
  assert.equal(text.split("\n").length, 2);
});

test("the level silent writes nothing", () => {
  assert.equal(
    logged("pretty", "silent", (log) => log.error("fault", {}, "no")),
    "",
  );
});

for (const format of ["pretty", "json"] as const) {
  test(`a peer's text has at most 4,096 characters in a line of the format ${format}`, () => {
    const long = "x".repeat(100_000);
    const text = logged(format, "info", (log) =>
      log.info("fault", { name: long, waits: [{ names: [long, "y"] }] }, "hello"),
    );
    assert.equal(text.match(/x{4096}… \(100000 characters\)/g)?.length, 2);
    assert.ok(text.length < 9_000, `${text.length}`);
    if (format === "json") assert.equal(JSON.parse(text).waits[0].names[1], "y");
  });
}
