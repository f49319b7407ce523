#!/usr/bin/env node
// A driver for servers that read a folder with a JSON file for each resource: `node folder.mjs LINK [MS]`. LINK is a
// symbolic link to the folder. Each order swaps it to a new folder, which is one change. The server has MS
// milliseconds (500) to serve that.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";

const [link, settleMs = "500"] = process.argv.slice(2);
if (link === undefined) throw new Error("node folder.mjs LINK [MS]");
mkdirSync(dirname(resolve(link)), { recursive: true });
let last;

for await (const line of createInterface({ input: process.stdin })) {
  const { set } = JSON.parse(line);
  if (set === undefined) {
    console.log(JSON.stringify({ ok: false, error: "this driver can only set" }));
    continue;
  }
  const folder = mkdtempSync(`${resolve(link)}-`);
  let files = 0;
  for (const [type, resources] of Object.entries(set)) {
    for (const resource of Object.values(resources)) {
      writeFileSync(join(folder, `${files++}.json`), JSON.stringify({ "@type": type, ...resource }));
    }
  }
  symlinkSync(folder, `${folder}.link`);
  renameSync(`${folder}.link`, link);
  await new Promise((done) => setTimeout(done, Number(settleMs)));
  if (last !== undefined) rmSync(last, { recursive: true });
  last = folder;
  console.log(JSON.stringify({ ok: true }));
}
