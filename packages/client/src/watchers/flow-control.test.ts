import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createServer, type ServerEvent } from "@xdskit/server";
import { createClient } from "../create-client.js";
import { patienceMs, waitFor } from "../testing/wait-for.js";

const cluster = (name: string, content = "") => create(ClusterSchema, { name, altStatName: content });

describe("a client over a real connection", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`a client reads no faster than its watchers, ${variant}`, async () => {
      const server = createServer();
      const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
      const client = createClient({ servers: [{ kind: "grpc", address, variant }], node: { id: "me" } });
      try {
        const seen: string[] = [];
        let responses = 0;
        client.on(({ kind }) => {
          if (kind === "updated") responses += 1;
        });
        let release = () => {};
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        client.watch(ClusterSchema, "a", {
          onChanged({ message }) {
            seen.push(message.altStatName.slice(0, 3));
            return released;
          },
        });
        // More than fits into the buffers between the two.
        const content = (round: number) => `${round}`.padStart(3, "0") + "x".repeat(300_000);
        const rounds = 60;
        for (let round = 1; round <= rounds; round += 1) {
          server.config.set([cluster("a", content(round))]);
          if (round === 1) await waitFor("the first", () => seen.length === 1);
          await sleep(1);
        }
        assert.equal(responses, 1);
        release();
        await waitFor("the last", () => seen.at(-1) === `${rounds}`.padStart(3, "0"));
        // Unsent changes of the server were replaced by newer ones.
        assert.ok(responses < rounds / 2, `${responses} of ${rounds}`);
      } finally {
        await client.close();
        await server.close({ timeoutMs: 200 });
      }
    });

    it(`a client ends its streams cleanly, ${variant}`, async () => {
      const server = createServer();
      const events: ServerEvent[] = [];
      server.on((event) => events.push(event));
      const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
      server.config.set([cluster("a")]);
      const client = createClient({ servers: [{ kind: "grpc", address, variant }], node: { id: "me" } });
      await client.get("cluster", "a");
      client.watch("cluster", "a", { onChanged() {} });
      await client.close();
      await client.close();
      await waitFor("the end", () => events.some(({ kind }) => kind === "stream-closed"));
      const [end] = events.flatMap((event) => (event.kind === "stream-closed" ? [event] : []));
      await server.close({ timeoutMs: 200 });
      assert.equal(end?.code, 0);
    });
  }

  it("a client keeps a process alive as long as something is watched, and no longer", async () => {
    const run = async (program: string) => {
      const options = ["--conditions=@xdskit/source", "--import", "tsx", "--input-type=module", "--eval", program];
      const cwd = fileURLToPath(new URL(".", import.meta.url));
      const child = spawn(process.execPath, options, { cwd, stdio: ["ignore", "pipe", "inherit"] });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
      const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
      await once(child, "close");
      clearTimeout(timer);
      return output;
    };
    // Nobody listens there: between attempts neither a connection nor anything else keeps the process alive.
    const program = `
      import { createClient } from "../create-client.ts";
      const client = createClient({ servers: ["127.0.0.1:9"], node: { id: "me" }, backoff: { firstMs: 30 } });
      let failures = 0;
      client.on(({ kind }) => {
        failures += kind === "failed" ? 1 : 0;
        if (failures < 3) return;
        watch.cancel();
        console.log("enough");
      });
      const watch = client.watch("cluster", "a", { onChanged() {} });
    `;
    assert.equal((await run(program)).split("\n")[0], "enough");
  });
});
