import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TlsOptions } from "node:tls";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createPlainHttp2Server } from "../../packages/grpc-server/src/testing/plain-http2-server.js";
import { explainedFailures } from "./h2spec-explained.js";
import { peer } from "./harness/basics/peers.js";

/** How many tests h2spec 2.2.1 has, the strict ones included. */
const testCount = 146;
/** How long h2spec waits for an answer before it calls a test failed. A busy machine is slow. */
const answerSeconds = 5;
const allMs = 300_000;

function tlsOptions(): TlsOptions {
  const { certificate, key } = createAuthority("h2spec").issue("127.0.0.1", "IP:127.0.0.1");
  return { cert: certificate, key };
}

interface Judged {
  readonly all: readonly string[];
  readonly failed: readonly string[];
}

/** Runs all of h2spec against a port, and reads its report. */
async function judge(command: string, port: number, isTls: boolean): Promise<Judged> {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-h2spec-"));
  const report = join(folder, "report.xml");
  try {
    const args = ["--strict", "--port", String(port), "--timeout", String(answerSeconds), "--junit-report", report];
    const child = spawn(command, [...args, ...(isTls ? ["--tls", "--insecure"] : [])], {
      stdio: "ignore",
      timeout: allMs,
    });
    // Its code says only whether something failed.
    await once(child, "exit");
    return read(readFileSync(report, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function read(report: string): Judged {
  const cases = [...report.matchAll(/<testcase package="([^"]+)" classname="([^"]+)"[^>]*>([\s\S]*?)<\/testcase>/g)];
  const told = cases.map(([, section = "", title = "", result = ""]) => ({
    name: `${section}: ${title.replaceAll("&#34;", '"').replaceAll("&amp;", "&")}`,
    isPassed: result === "",
  }));
  return {
    all: told.map(({ name }) => name),
    failed: told.filter(({ isPassed }) => !isPassed).map(({ name }) => name),
  };
}

describe("our HTTP/2, judged by h2spec", () => {
  for (const isTls of [false, true]) {
    it(`only the explained cases fail, ${isTls ? "over TLS" : "in plaintext"}`, { timeout: allMs }, async (t) => {
      const command = peer("h2spec", t);
      if (command === undefined) return;
      const server = createPlainHttp2Server(isTls ? tlsOptions() : undefined);
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      try {
        const { all, failed } = await judge(command, (server.address() as AddressInfo).port, isTls);
        assert.equal(all.length, testCount);
        assert.deepEqual([...failed].sort(), Object.keys(explainedFailures).sort());
      } finally {
        server.close();
      }
    });
  }

  it("each explained failure has a reason", () => {
    for (const [name, reason] of Object.entries(explainedFailures)) assert.ok(reason.length > 40, name);
  });
});
