import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { createRegistry, createResource, readResources } from "@xdskit/api";
import { loadAssignment } from "@xdskit/api/builders";
import { ReadingThread } from "@xdskit/api/threads";
import type { Revision } from "@xdskit/server";
import { createShowResource } from "../answers/resource-json.js";
import { runningApi } from "../testing/running-api.js";

/** A route of many virtual hosts, as a file has it. */
function longRoute(count: number): string {
  const hosts = Array.from({ length: count }, (_, index) => ({
    name: `h${index}`,
    domains: [`h${index}.example.com`],
    routes: [{ match: { prefix: "/" }, directResponse: { status: 200 } }],
  }));
  const type = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
  return JSON.stringify([{ "@type": type, name: "long", virtualHosts: hosts }]);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes.
type Part = (body: any) => unknown;

/** This process's time on processors, in milliseconds: others may take them away. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The longest time, in milliseconds, for which others had no turn meanwhile. */
async function longestTurn(work: () => Promise<void>, clock = () => performance.now()): Promise<number> {
  let longest = 0;
  let last = clock();
  const look = () => {
    const now = clock();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const looking = setInterval(look, 1);
  await work();
  look();
  clearInterval(looking);
  return longest;
}

test("a resource with a hundred thousand values leaves turns to others while it is shown", async () => {
  const text = longRoute(30_000);
  const [route] = readResources({ path: "a.json", bytes: Buffer.from(text) }).resources.map(({ resource }) => resource);
  assert.ok(route !== undefined);
  const reading = new ReadingThread();
  const began = performance.now();
  const expected = createShowResource(createRegistry(), reading, "proto")(route);
  const atOnceMs = performance.now() - began;
  reading.close();
  const asked: readonly (readonly [method: string, path: string, body: string | undefined, part: Part])[] = [
    ["GET", "groups/all/resources/route/long", undefined, ({ resource }) => resource],
    ["GET", "groups/all/resources?contents=true&q=h29999", undefined, ({ total }) => total === 1 && expected],
    ["GET", "groups/all/graph", undefined, () => expected],
    ["POST", "layers/api/changes?dryRun=true&fields=proto", `{"upsert":${text}}`, ({ changed }) => changed[0].after],
  ];
  for (const [method, path, body, part] of asked) {
    let longest = Number.POSITIVE_INFINITY;
    // Another program may take the processor away during one turn, but not in each try.
    for (let tries = 0; tries < 3 && longest >= atOnceMs / 2; tries += 1) {
      // Nothing is shown yet.
      await using api = await runningApi({ folder: method === "GET" ? [route] : [] });
      const turn = await longestTurn(async () => {
        const answer = await api.ask(method, path, body, { "content-type": "application/json" });
        assert.equal(answer.status, 200, JSON.stringify(answer.body).slice(0, 1_000));
        assert.ok(isDeepStrictEqual(part(answer.body), expected), path);
      });
      longest = Math.min(longest, turn);
    }
    assert.ok(longest < atOnceMs / 2, `${path}: one turn of ${longest} ms, and ${atOnceMs} ms to show it at once`);
  }
});

test("a page of thousands of items leaves turns to others", async () => {
  const names = Array.from({ length: 4_000 }, (_, index) => `c${index}`);
  const folder = names.map((name) => createResource(loadAssignment({ clusterName: name })));
  const pages = ["layers/folder/resources?limit=4000", "groups/all/resources?limit=2000", "revisions/ID?limit=4000"];
  for (const page of [...pages, "revisions/ID/arrival", "revisions/ID/stages"]) {
    let [longest, all] = [1, 0];
    // V8 may compile or collect during one turn, but not in each try.
    for (let tries = 0; tries < 3 && longest >= all / 2; tries += 1) {
      // Nothing is shown yet.
      await using api = await runningApi({ folder });
      let kept: Revision | undefined;
      for (let looks = 0; looks < 1_000 && kept === undefined; looks += 1) {
        await sleep(10);
        kept = await api.store.head("folder");
      }
      const url = `${api.base}${page.replace("ID", kept?.id ?? "")}`;
      const began = processorMs();
      longest = await longestTurn(async () => {
        const answer = await fetch(url);
        assert.equal(answer.status, 200);
        await answer.arrayBuffer();
      }, processorMs);
      all = processorMs() - began;
    }
    assert.ok(longest < all / 2, `${page}: one turn of ${longest} ms in ${all} ms`);
  }
});
