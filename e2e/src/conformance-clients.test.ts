import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { main } from "xds-conformance";
import { peer } from "./harness/basics/peers.js";
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
        `${variant === "sotw" ? "8 passed, 0 failed, 0" : "7 passed, 0 failed, 1"} skipped`,
      );
    });
  }

  test("gRPC for Go", { timeout: 200_000 }, async (t) => {
    const command = peer("go-grpc-client", t);
    if (command !== undefined) await judged([command, "xds:///x", "500"], "8 passed, 0 failed, 0 skipped");
  });
});
