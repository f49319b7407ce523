import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { grpcClient } from "../testing/raw-client.js";
import { ads, type Running, urlOf, withServer } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import { patienceMs } from "../testing/wait-for.js";
import { delta } from "../testing/xds-client.js";

/** How many calls ended with each status. */
interface Flooded {
  readonly codes: Readonly<Record<string, number>>;
}

const fetchClusters = "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters";
const fetchRequest = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id: "flood" } }));

/** Calls from a process of their own, which has an event loop of its own. */
async function flood(address: string, connections: number, calls: number): Promise<Flooded> {
  const program = fileURLToPath(new URL(`../testing/fetch-flood${extname(import.meta.url)}`, import.meta.url));
  const request = Buffer.from(fetchRequest).toString("base64");
  const args = [`http://${address}`, fetchClusters, request, String(connections), String(calls)];
  const child = spawn(process.execPath, [...process.execArgv, program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  await once(child, "close");
  clearTimeout(timer);
  return JSON.parse(output) as Flooded;
}

/** Changes that reach a stream meanwhile: how long each took. */
async function changesUntil({ server, address }: Running, isOver: () => boolean): Promise<readonly number[]> {
  const client = grpcClient(resourceTypes, address);
  const stream = delta(client.open(ads("delta")));
  const typeUrl = urlOf("cluster");
  stream.send({ node: { id: "other" }, typeUrl, resourceNamesSubscribe: ["other"] });
  const tookMs: number[] = [];
  for (let round = 0; !isOver(); round++) {
    const began = performance.now();
    server.config.layer("other").set([cluster("other", `${round}`)]);
    const { nonce } = await stream.next();
    tookMs.push(performance.now() - began);
    stream.send({ typeUrl, responseNonce: nonce });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  client.close();
  return tookMs;
}

/**
 * What the main thread, which is this one, takes from now on: the longest turn of its event loop, and memory of the
 * process, all threads included.
 */
function watchMain(): () => { readonly longestTurnMs: number; readonly addedMB: number } {
  const before = process.memoryUsage().rss;
  let longestTurnMs = 0;
  let most = before;
  let last = performance.now();
  const look = () => {
    longestTurnMs = Math.max(longestTurnMs, performance.now() - last);
    most = Math.max(most, process.memoryUsage().rss);
    last = performance.now();
  };
  const timer = setInterval(look, 5);
  return () => {
    clearInterval(timer);
    look();
    return { longestTurnMs, addedMB: (most - before) / 1e6 };
  };
}

describe("thousands of unary calls at once, with two workers", () => {
  it("are answered by and by: they hold up neither the main thread nor streams, and their answers do not pile up", () =>
    withServer({ workers: 2 }, async (running) => {
      running.server.config.set(
        Array.from({ length: 600 }, (_, index) => cluster(`cluster-${index}`, "x".repeat(200))),
      );
      const taken = watchMain();
      let isOver = false;
      const flooded = flood(running.address, 4, 500).finally(() => {
        isOver = true;
      });
      const tookMs = await changesUntil(running, () => isOver);
      assert.deepEqual((await flooded).codes, { "0": 2_000 });
      const { longestTurnMs, addedMB } = taken();
      const slowestMs = Math.max(...tookMs);
      assert.ok(longestTurnMs < 2_000, `a turn of ${longestTurnMs} ms`);
      assert.ok(slowestMs < 4_000, `a change took ${slowestMs} ms`);
      assert.ok(addedMB < 450, `${addedMB} MB`);
    }));
});
