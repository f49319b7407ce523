import assert from "node:assert/strict";
import { test } from "node:test";
import { createServer } from "@xdskit/server";
import type { AdminServer } from "../admin/admin-server.js";
import type { Log } from "../output/log.js";
import { isLoopback, openListeners } from "./listeners.js";
import type { Running } from "./run-serving.js";

test("only addresses of this machine are loopback", () => {
  for (const host of ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1", "localhost", "LOCALHOST", "a.localhost"])
    assert.ok(isLoopback(host), host);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "localhost.example.org", "127.example.org", "1127.0.0.1"])
    assert.ok(!isLoopback(host), host);
});

test("who listens beyond this machine without TLS is warned, once for each port", async () => {
  for (const [host, isSecured, expected, adminHost] of [
    ["0.0.0.0", false, ["grpc", "rest"], "127.0.0.1"],
    ["0.0.0.0", true, [], "127.0.0.1"],
    ["0.0.0.0", true, ["admin"], "0.0.0.0"],
    ["127.0.0.1", false, [], "127.0.0.1"],
  ] as const) {
    const admin: AdminServer = { address: { host: adminHost, port: 1 }, close: async () => {} };
    const warned: string[] = [];
    const note = (_: object, message: string) => void warned.push(message);
    const log: Log = { debug: note, info: note, warn: note, error: note };
    const server = createServer();
    const running: Running = {
      ...{ readiness: "starting", servesSince: undefined, server, admin, adminAnnounced: false, closers: [] },
    };
    const address = { host, port: 0 };
    const terminal = { out: () => {}, err: () => {} };
    await openListeners(running, server, admin, { grpc: address, rest: address }, { terminal, log, isSecured });
    await server.close();
    assert.deepEqual(
      warned.map(
        (message) =>
          /^WARNING: (\w+) listens beyond this machine(?: without TLS: .*serve\.md#tls|: .*serve\.md#admin-pages)/.exec(
            message,
          )?.[1],
      ),
      expected,
    );
  }
});
