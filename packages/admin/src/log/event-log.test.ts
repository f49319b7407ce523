import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { NodeStreamInfo, ServerEvent } from "@xdskit/server";
import { createEventLog, loggedAt, logServer } from "./event-log.js";
import type { Log } from "./log.js";
import type { LogEvent } from "./log-events.js";
import type { LogLevel } from "./log-options.js";

const node: Node = {
  id: "edge-1",
  cluster: "edge",
  locality: { region: "", zone: "", subZone: "" },
  metadata: {},
  userAgentName: "envoy",
  userAgentVersion: "1.40.0",
  clientFeatures: [],
};
const clusters = resourceTypes.find("cds")!;
const stream: NodeStreamInfo = {
  id: 1,
  peer: "127.0.0.1:5",
  node,
  group: "all",
  method: { variant: "delta", api: "v3", only: undefined, unary: false },
};

/** Level, message and fields of all that these events log. */
function logged(
  ...events: readonly ServerEvent[]
): [level: string, message: string, fields: Record<string, unknown>][] {
  const lines: [string, string, Record<string, unknown>][] = [];
  const at = (level: string) => (_: LogEvent, fields: object, message: string) =>
    void lines.push([level, message, { ...fields }]);
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const tell = createEventLog(log, undefined, (group, type, name) =>
    group === "all" && type === clusters && name === "web" ? { file: "config/a.yaml", line: 3, column: 1 } : undefined,
  );
  for (const event of events) tell(event);
  return lines;
}

test("streams are lines of debug: those of ADS, and an Envoy's many streams of one type", () => {
  const perType = { ...stream, method: { ...stream.method, only: clusters } };
  const closed = { kind: "stream-closed", code: undefined, message: "" } as const;
  const lines = logged(
    { kind: "stream-opened", stream },
    { kind: "stream-opened", stream: perType },
    { ...closed, stream },
    { ...closed, stream: perType },
  );
  assert.deepEqual(
    lines.map(([level, message]) => [level, message]),
    [
      ["debug", "client connected"],
      ["debug", "stream opened"],
      ["debug", "client disconnected"],
      ["debug", "stream closed"],
    ],
  );
  assert.equal(lines[0]?.[2].client, "envoy 1.40.0");
});

test("a rejection is a warning with node, type, the resources and their places, version, status and reason", () => {
  const rejected = { kind: "rejected", stream, type: clusters, version: "v1", code: 13, message: "no" } as const;
  const text = "client rejected the configuration (NACK); it keeps what it had";
  const fields = { node: "edge-1", group: "all", type: "cluster", version: "v1", code: "INTERNAL", reason: "no" };
  const many = Array.from({ length: 12 }, (_, place) => `n${place}`);
  const lines = logged(
    { ...rejected, names: [] },
    { ...rejected, names: ["web", "gone"] },
    { ...rejected, names: many },
  );
  assert.deepEqual(lines, [
    ["warn", text, fields],
    ["warn", text, { ...fields, resources: ["web (config/a.yaml:3:1)", "gone"] }],
    ["warn", text, { ...fields, resources: [...many.slice(0, 10), "… and 2 more"] }],
  ]);
});

test("a client that is not told TTLs causes a debug line", () => {
  const message = "client is not told the TTL of resources: it keeps them when the server is gone";
  const fields = { node: "edge-1", stream: 1, type: "cluster", resources: 2 };
  assert.deepEqual(logged({ kind: "ttl-untold", stream, type: clusters, resources: 2 }), [["debug", message, fields]]);
  assert.deepEqual(
    ["info", "debug"].map((level) => loggedAt(level as LogLevel)("ttl-untold")),
    [false, true],
  );
});

test("a repeatedly refused client causes one warning for each reason", () => {
  const refused = { kind: "stream-refused", stream, node, code: 7, message: "no group" } as const;
  const lines = logged(refused, refused, { ...refused, message: "too many streams" }, refused);
  assert.deepEqual(
    lines.map(([level, , { reason }]) => [level, reason]),
    [
      ["warn", "no group"],
      ["debug", "no group"],
      ["warn", "too many streams"],
      ["debug", "no group"],
    ],
  );
});

test("a log that was ended says nothing more, not even what it gathered", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const lines: string[] = [];
    const at = (_: LogEvent, __: object, message: string) => void lines.push(message);
    let hear: (event: ServerEvent) => void = () => assert.fail("nobody listens");
    const server = {
      on(listener: (event: ServerEvent) => void) {
        hear = listener;
        return () => {};
      },
    };
    const end = logServer(server, { debug: at, info: at, warn: at, error: at }, { level: "info" });
    hear({ kind: "stream-opened", stream });
    mock.timers.tick(1_000);
    assert.ok(lines.includes("clients came or went"));
    hear({ kind: "stream-opened", stream: { ...stream, id: 2 } });
    lines.length = 0;
    end();
    mock.timers.tick(60_000);
    assert.deepEqual(lines, []);
  } finally {
    mock.timers.reset();
  }
});
