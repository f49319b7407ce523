import assert from "node:assert/strict";
import { test } from "node:test";
import { createRegistry } from "@xdskit/api";
import { createServer } from "@xdskit/server";
import { isLoopback } from "@xdskit/server/address";
import { Serving, type ServingOptions } from "./serving.js";

test("only addresses of this machine are loopback", () => {
  for (const host of ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1", "localhost", "LOCALHOST", "a.localhost"])
    assert.ok(isLoopback(host), host);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "localhost.example.org", "127.example.org", "1127.0.0.1"])
    assert.ok(!isLoopback(host), host);
});

test("a port beyond this machine without TLS causes a warning, once for each port", async () => {
  for (const [host, isSecured, expected, adminHost] of [
    ["0.0.0.0", false, ["grpc", "rest"], "127.0.0.1"],
    ["0.0.0.0", true, [], "127.0.0.1"],
    ["0.0.0.0", true, ["admin"], "0.0.0.0"],
    ["127.0.0.1", false, [], "127.0.0.1"],
  ] as const) {
    const warned: string[] = [];
    const err = (line: string) => {
      const { level, msg } = JSON.parse(line);
      if (level === "warn") warned.push(msg);
    };
    const address = { host, port: 0 };
    const options: ServingOptions = {
      grpc: address,
      rest: address,
      admin: { host: adminHost, port: 0 },
      toFiles: undefined,
      descriptors: [],
      logLevel: "info",
      logFormat: "json",
    };
    const serving = new Serving(options, { out: () => {}, err }, undefined);
    await serving.serve({
      server: createServer(),
      registry: createRegistry(),
      settingsFile: undefined,
      groups: undefined,
      layers: [],
      tls: isSecured ? { certificateFile: "cert.pem", keyFile: "key.pem" } : undefined,
      whereIs: () => undefined,
      sources: () => [],
      begin: async () => {},
      banner: () => ({ text: "", word: "serving", fields: {} }),
    });
    await serving.stop();
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
