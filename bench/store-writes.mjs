/**
 * What a write to the store on disk costs beside what the disk itself needs: writes that follow each other, each waited
 * for, as a script that applies one change after the other waits.
 *
 *   node bench/store-writes.mjs [WRITES [RESOURCES [ROUNDS [DIR]]]]
 *
 * Needs `npm run build`. In turns, ROUNDS times (default 7), each makes WRITES writes (default 100) of one cluster of
 * about 300 bytes: `commit` of our store, in a layer of RESOURCES (default 10,000) clusters; SQLite alone, one
 * row in a durable transaction; and an appended line until `fdatasync`. DIR (default: the system's temporary folder)
 * says which disk. Prints the median time of a write of each with the extremes of the rounds, and the ratio of each to
 * the bare append.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { openSqliteStore } from "../packages/store-sqlite/dist/index.js";
import { median } from "./scale/processes.mjs";

const [writes = 100, count = 10_000, rounds = 7] = process.argv.slice(2, 5).map(Number);
const directory = mkdtempSync(join(process.argv[5] ?? tmpdir(), "xdskit-store-writes-"));
const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
let number = 0;

function resource(index) {
  number += 1;
  const bytes = Buffer.alloc(300, `cluster-${index} at ${number} `);
  return { type, key: `cluster-${index}`, version: `${number}`.padStart(16, "0"), bytes };
}

async function ourStore() {
  const { store } = await openSqliteStore(join(directory, "store"));
  const commit = async (kind, upsert, parent) => {
    const info = { author: "bench", cause: { kind: "source", source: "bench" }, message: "", time: Date.now() };
    const { heads } = await store.commit([{ layer: "default", parent, kind, upsert }], info);
    return heads[0].id;
  };
  let head = await commit(
    "replace",
    Array.from({ length: count }, (_, index) => resource(index)),
  );
  return {
    name: "`commit` of the store",
    async write(index) {
      head = await commit("patch", [resource(index % count)], head);
    },
    close: () => store.close(),
  };
}

function bareSqlite() {
  const database = new Database(join(directory, "bare.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE one (key TEXT PRIMARY KEY, value)");
  const put = database.prepare("INSERT INTO one VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value");
  return {
    name: "SQLite alone",
    async write(index) {
      const { key, bytes } = resource(index);
      put.run([key, bytes]);
    },
    close: () => database.close(),
  };
}

async function bareFile() {
  const file = await openFile(join(directory, "bare"), "a");
  return {
    name: "an append and `fdatasync`",
    async write(index) {
      await file.appendFile(resource(index).bytes);
      await file.datasync();
    },
    close: () => file.close(),
  };
}

try {
  const sides = [await ourStore(), bareSqlite(), await bareFile()].map((side) => ({ ...side, times: [] }));
  for (let round = 0; round < rounds; round += 1)
    for (const { write, times } of sides) {
      const began = performance.now();
      for (let index = 0; index < writes; index += 1) await write(round * writes + index);
      times.push((performance.now() - began) / writes);
    }
  const bare = median(sides[2].times);
  for (const { name, times, close } of sides) {
    const sorted = times.toSorted((a, b) => a - b);
    const [least, middle, most] = [sorted[0], median(times), sorted.at(-1)].map((ms) => ms.toFixed(2));
    console.log(
      `${name}: ${middle} ms a write (${least} … ${most}), ${(median(times) / bare).toFixed(2)} of the append`,
    );
    await close();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
