import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { main } from "xds-conformance";
import { peer } from "./harness/basics/peers.js";
import { grpcClientCommand } from "./harness/peers/grpc-client.js";
import { xdskitCommand } from "./harness/xdskit/xdskit.js";

/** Holds the client that a command starts against the protocol. */
async function judged(command: readonly string[], last: string): Promise<void> {
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(text);
  const status = await main(["client", "--answer-ms", "15000", "--", ...command], {
    out: print,
    err: print,
    isTerminal: false,
  });
  assert.equal(status, 0, printed.join(""));
  assert.equal(printed.at(-1), `${last}\n`, printed.join(""));
}

describe("clients, held against the protocol", { concurrency: 3 }, () => {
  for (const variant of ["sotw", "delta"] as const) {
    test(`xdskit watch, ${variant}`, { timeout: 200_000 }, async () => {
      const { command, args } = xdskitCommand();
      const watch = [command, ...args, "watch", "--ads", "--variant", variant, "--type", "cluster", "x"];
      const script = `exec ${watch.map((word) => `'${word}'`).join(" ")} --server $XDS_SERVER`;
      // An ACK of delta has no names to repeat.
      await judged(
        ["sh", "-c", script],
        // It asks for one resource: none of two can be wrong.
        `${variant === "sotw" ? "9 passed, 0 failed, 1" : "7 passed, 0 failed, 3"} skipped`,
      );
    });
  }

  for (const name of ["go", "java", "python", "grpc-js"] as const) {
    test(`gRPC: ${name}`, { timeout: 200_000 }, async (t) => {
      const command = grpcClientCommand(name, t);
      // They ask for one listener: none of two can be wrong.
      if (command !== undefined) await judged([...command, "xds:///x", "500"], "9 passed, 0 failed, 1 skipped");
    });
  }

  for (const name of ["envoy", "envoy-1.39", "envoy-1.38", "envoy-1.37", "envoy-1.36"] as const) {
    test(`Envoy: ${name}`, { timeout: 200_000 }, async (t) => {
      const envoy = peer(name, t);
      if (envoy === undefined) return;
      const script = `exec '${envoy}' --use-dynamic-base-id -l error -c $XDS_CONFORMANCE_ENVOY_BOOTSTRAP`;
      await judged(["sh", "-c", script], "10 passed, 0 failed, 0 skipped");
    });
  }
});
