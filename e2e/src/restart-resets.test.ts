import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { freePort } from "./harness/basics/ports.js";
import { typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { serve } from "./harness/xdskit/xdskit.js";

const rounds = 4;

/** What HTTP/2 begins with, and empty settings: a server answers with its own. */
const preface = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

interface Attempt {
  /** Which of the servers was there, or was awaited, when it began, from 1. */
  readonly round: number;
  readonly end: string;
}

/** Connects every few milliseconds, whatever becomes of the connections before. */
function keepConnecting(port: number, roundNow: () => number) {
  const attempts: Attempt[] = [];
  const open = new Set<Promise<void>>();
  const attempt = (round: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(preface));
      const over = (end: string) => {
        socket.destroy();
        attempts.push({ round, end });
        resolve();
      };
      socket.once("data", () => over("served"));
      socket.once("end", () => over("ended"));
      socket.once("error", (error: NodeJS.ErrnoException) => over(error.code ?? error.message));
      socket.setTimeout(10_000, () => over("silence"));
    });
  const timer = setInterval(() => {
    const round = roundNow();
    if (round === 0) return;
    const made = attempt(round).finally(() => open.delete(made));
    open.add(made);
  }, 3);
  return {
    attempts,
    isIdle: () => open.size === 0,
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}

/** Also once it has ended, until its parent knows. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a server that was killed and started again on the same port", () => {
  for (const workers of [1, 2]) {
    it(`each connection after the kill is refused or served, and none is reset; workers ${workers}`, async (t) => {
      const scene = await createScene(t);
      const folder = await createConfigFolder(scene.directory, {
        "clusters.json": [{ "@type": typeUrl("envoy.config.cluster.v3.Cluster"), name: "a" }],
      });
      const port = await freePort();
      const options = { grpc: `127.0.0.1:${port}`, args: ["--workers", `${workers}`] };
      // Until the process has ended the system still takes connections for it. Those do not count.
      let round = 0;
      const connecting = keepConnecting(port, () => round);
      for (let next = 1; next <= rounds; next++) {
        round = next;
        const server = await serve(scene, folder.path, options);
        const isServed = () => connecting.attempts.some((each) => each.round === next && each.end === "served");
        await eventually("a connection that is served", isServed);
        // Sooner or later, so that it is at one thing or another.
        await sleep(next * 60);
        round = 0;
        await eventually("no connection under way", connecting.isIdle, { everyMs: 2 });
        process.kill(server.process.pid, "SIGKILL");
        await eventually("its end", () => !isThere(server.process.pid), { everyMs: 2 });
      }
      await connecting.stop();
      const ends = new Set(connecting.attempts.map(({ end }) => end));
      assert.deepEqual([...ends].sort(), ["ECONNREFUSED", "served"]);
    });
  }
});
