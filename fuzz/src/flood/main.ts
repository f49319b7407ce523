import { fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import type { ServerLimits } from "@xdskit/server";
import { type Flooded, type FloodSize, flood } from "./flood.js";
import { askAgainAndAgain, quantile } from "./others.js";
import { serveTenants } from "./server.js";

// Measures what others notice while one identity asks for all that it can: `npm run flood -- [--seconds N]`.
// The server, the flood and the others each have a process of their own, so it needs three idle processors.

const { values } = parseArgs({
  options: { seconds: { type: "string" }, as: { type: "string" }, with: { type: "string" } },
});
const seconds = Number(values.seconds ?? 20);
const size: FloodSize = { streams: 4_000, names: 50, polls: 500 };
/** Below what the flood asks for, in all ways. */
const limits = { streamsPerIdentity: 3_000, pollsPerIdentity: 250, retainedBytesPerIdentity: 64 * 1024 * 1024 };
const most = 1e9;
const unlimited: Partial<ServerLimits> = {
  streamsPerIdentity: most,
  pollsPerIdentity: most,
  retainedBytesPerIdentity: most,
  requestsPerSecondPerIdentity: most,
  requestBurstPerIdentity: most,
};

type Ports = { readonly grpc: string; readonly rest: string };

/** Starts this program once more, in another part, and waits for its first message. */
async function startAs<T>(part: "server" | "flood", given: object) {
  const child = fork(import.meta.filename, ["--as", part, "--with", JSON.stringify(given)]);
  const heard = async () => (await once(child, "message"))[0] as unknown;
  return { first: (await heard()) as T, heard, tell: () => child.send("over"), end: () => child.kill("SIGKILL") };
}

async function measure(what: string, isFlooded: boolean, given: Partial<ServerLimits>): Promise<void> {
  const server = await startAs<Ports>("server", given);
  const wild = isFlooded ? await startAs("flood", server.first) : undefined;
  // The burst is over by then.
  await new Promise((resolve) => setTimeout(resolve, isFlooded ? 5_000 : 1_000));
  const end = Date.now() + seconds * 1_000;
  const { ms, refused } = await askAgainAndAgain(
    { token: "calm", tenant: "calm", ...server.first },
    () => Date.now() > end,
  );
  wild?.tell();
  const flooded = (await wild?.heard()) as Flooded | undefined;
  server.tell();
  const stats = (await server.heard()) as object;
  const parts = [0.5, 0.99, 1].map((part) => quantile(ms, part).toFixed(1)).join(" / ");
  console.log(`${what}: ${ms.length} answers to others in ${parts} ms (p50 / p99 / max), ${refused.length} refused`);
  if (flooded !== undefined)
    console.log(`  the flood: ${JSON.stringify(flooded)}\n  the server: ${JSON.stringify(stats)}`);
  for (const child of [wild, server]) child?.end();
}

if (values.as === "server") {
  const { server, grpc, rest } = await serveTenants(JSON.parse(values.with ?? "{}") as Partial<ServerLimits>);
  process.send?.({ grpc, rest });
  await once(process, "message");
  const { identityLimits, streams } = server.stats();
  process.send?.({ identityLimits, open: streams.reduce((sum, { open }) => sum + open, 0) });
} else if (values.as === "flood") {
  const ports = JSON.parse(values.with ?? "") as Ports;
  let isOver = false;
  process.once("message", () => {
    isOver = true;
  });
  process.send?.("begun");
  process.send?.(await flood({ token: "wild", tenant: "wild", ...ports }, size, () => isOver));
} else {
  await measure("nobody else", false, {});
  await measure("one floods, within its share", true, limits);
  await measure("one floods, without shares", true, unlimited);
}
