#!/usr/bin/env node
// A driver for servers that read a folder with a JSON file for each resource: `node folder.mjs LINK [REST]`. LINK is a
// symbolic link to the folder. Each order swaps it to a new folder, which is one change. REST is the URL at which the
// server answers polls: it is asked until it serves the change. Without it, the server has half a second.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const [link, rest] = process.argv.slice(2);
if (link === undefined) throw new Error("node folder.mjs LINK [REST]");
mkdirSync(dirname(resolve(link)), { recursive: true });
const runtime = "type.googleapis.com/envoy.service.runtime.v3.Runtime";
const mark = "xds-conformance-driver";
let changes = 0;
let last;

/** Resolves once the server serves the change with this number. */
async function served(number) {
  if (rest === undefined) return await pause(500);
  const body = JSON.stringify({ node: { id: mark, cluster: mark }, resource_names: [mark] });
  for (;;) {
    const answer = await fetch(`${rest}/v3/discovery:runtime`, { method: "POST", body }).catch(() => undefined);
    const { resources = [] } = answer?.ok ? await answer.json() : {};
    if (resources[0]?.layer?.change === number) return;
    await pause(20);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { set } = JSON.parse(line);
  if (set === undefined) {
    console.log(JSON.stringify({ ok: false, error: "this driver can only set" }));
    continue;
  }
  const folder = mkdtempSync(`${resolve(link)}-`);
  let files = 0;
  const write = (resource) => writeFileSync(join(folder, `${files++}.json`), JSON.stringify(resource));
  for (const [type, resources] of Object.entries(set)) {
    for (const resource of Object.values(resources)) write({ "@type": type, ...resource });
  }
  if (rest !== undefined) write({ "@type": runtime, name: mark, layer: { change: ++changes } });
  symlinkSync(folder, `${folder}.link`);
  renameSync(`${folder}.link`, link);
  await served(changes);
  if (last !== undefined) rmSync(last, { recursive: true });
  last = folder;
  // The folder takes resources of any type, also wrapped ones.
  console.log(JSON.stringify({ ok: true, can: ["types", "ttl", "aliases"] }));
}
