import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { times } from "../../api/src/testing/effort.js";
import { openSqliteStore } from "./open-sqlite-store.js";
import type { Truth } from "./testing/truth.js";

/**
 * The suite plays few of them, but not fewer in a short run: of ten it might happen that none does harm that is told.
 * `EFFORT=20` plays 500 on each of the two states.
 */
const damages = Math.max(25, times(25));
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));

/** This many stores are opened by one process. */
const batch = 25;
const pageBytes = 4_096;

/** Numbers that repeat with the seed. */
function numbersOf(start: number): Below {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Below = (below: number) => number;

/** Changes some bytes at a place, in one of these ways. */
const ways: Readonly<Record<string, (bytes: Buffer, at: number, below: Below) => void>> = {
  "a bit": (bytes, at, below) => bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << below(8)), at),
  "a byte": (bytes, at, below) => bytes.writeUInt8(below(256), at),
  "some bytes": (bytes, at, below) => scramble(bytes, at, 1 + below(64), below),
  "a page of others": (bytes, at, below) => scramble(bytes, pageOf(at), pageBytes, below),
  "a page of nothing": (bytes, at) => bytes.fill(0, pageOf(at), Math.min(bytes.length, pageOf(at) + pageBytes)),
  "another page": (bytes, at, below) => {
    const from = pageOf(below(bytes.length));
    bytes.copy(bytes, pageOf(at), from, Math.min(from + pageBytes, bytes.length));
  },
  "the head of a page": (bytes, at, below) => scramble(bytes, pageOf(at) + below(16), 1, below),
  "the first bytes": (bytes, _at, below) => scramble(bytes, below(100), 1, below),
};

const pageOf = (at: number) => at - (at % pageBytes);

function scramble(bytes: Buffer, from: number, count: number, below: Below): void {
  for (let at = from; at < Math.min(bytes.length, from + count); at += 1) bytes.writeUInt8(below(256), at);
}

/** Damages one file of a store, and says how. */
function damage(directory: string, files: readonly string[], below: Below): string {
  const name = files[below(files.length)] ?? "";
  const path = join(directory, name);
  const bytes = readFileSync(path);
  const which = below(Object.keys(ways).length + 3);
  const [way, change] = Object.entries(ways)[which] ?? [];
  if (way !== undefined && change !== undefined && bytes.length > 0) {
    const at = below(bytes.length);
    change(bytes, at, below);
    writeFileSync(path, bytes);
    return `${name}: ${way} at ${at}`;
  }
  const left = below(bytes.length + 1);
  if (which % 3 === 0) rmSync(path);
  else truncateSync(path, left);
  return which % 3 === 0 ? `${name}: removed` : `${name}: cut off at ${left}`;
}

/** Makes a store, and what it acknowledged. Nobody closes it: what its process leaves is as after SIGKILL. */
async function made(directory: string, isClosed: boolean): Promise<Truth> {
  const { store } = await openSqliteStore(directory);
  const revisions: Record<string, Record<string, string>> = {};
  const held: Record<string, string> = {};
  let parent: string | undefined;
  for (let number = 1; number <= 15; number += 1) {
    const upsert = Array.from({ length: number === 1 ? 300 : 10 }, (_, index) => {
      const key = `r${(number * 7 + index) % 300}`;
      const text = `${key} at ${number} `.padEnd(
        20 + ((number * index) % 10_000 === 9 ? 9_000 : (number * index) % 900),
      );
      held[key] = text;
      return { type: "t", key, version: `${number}`, bytes: Buffer.from(text) };
    });
    const info = { author: "", cause: { kind: "api" as const, caller: "" }, message: "", time: number };
    const result = await store.commit([{ layer: "a", parent, kind: "patch", upsert }], info);
    parent = (result.kind === "committed" ? result.heads[0]?.id : undefined) ?? assert.fail();
    revisions[parent] = { ...held };
  }
  if (isClosed) await store.close();
  return { layer: "a", revisions };
}

/** What became of each store, in the order of `directories`. */
async function outcomes(truthFile: string, directories: readonly string[]): Promise<readonly string[]> {
  const program = fileURLToPath(import.meta.url).replace(/damages\.test\.(\w+)$/, "testing/open-damaged.$1");
  const child = spawn(process.execPath, [...process.execArgv, program, truthFile, ...directories], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: string[] = [];
  const errors: string[] = [];
  createInterface(child.stdout).on("line", (line) => said.push(line));
  createInterface(child.stderr).on("line", (line) => errors.push(line));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  const found = said.filter((line) => line !== "begin");
  if (code === 0) return found;
  const ended = `the process ended: ${signal ?? code} ${errors.slice(0, 5).join(" ")}`;
  const rest = directories.slice(found.length + 1);
  return [...found, ended, ...(rest.length === 0 ? [] : await outcomes(truthFile, rest))];
}

async function play(t: TestContext, isClosed: boolean): Promise<void> {
  const below = numbersOf(seed);
  const root = mkdtempSync(join(tmpdir(), "xdskit-damages-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const truthFile = join(root, "truth.json");
  const original = join(root, "original");
  writeFileSync(truthFile, JSON.stringify(await made(join(root, "made"), isClosed)));
  cpSync(join(root, "made"), original, { recursive: true });
  const [main, ...beside] = ["revisions.db", "revisions.db-acknowledged", "revisions.db-shm", "revisions.db-wal"];
  // The file of the store, or its log if that holds the newest transactions, is the largest one.
  const files = isClosed
    ? [main, main, main, ...beside]
    : [main, main, ...beside, "revisions.db-wal", "revisions.db-wal"];
  const counts = { whole: 0, told: 0 };
  for (let done = 0; done < damages; done += batch) {
    const hows: string[] = [];
    const directories = Array.from({ length: Math.min(batch, damages - done) }, (_, index) => {
      const directory = join(root, `${done + index}`);
      cpSync(original, directory, { recursive: true });
      hows.push(damage(directory, files as readonly string[], below));
      return directory;
    });
    for (const [index, outcome] of (await outcomes(truthFile, directories)).entries()) {
      assert.match(outcome, /^(?:whole$|told: )/, `${hows[index]}; SEED=${seed}`);
      counts[outcome === "whole" ? "whole" : "told"] += 1;
    }
    for (const directory of directories) rmSync(directory, { recursive: true });
  }
  assert.equal(counts.whole + counts.told, damages);
  assert.ok(counts.told > 0);
  t.diagnostic(`SEED=${seed}: of ${damages} damages ${counts.told} were told, ${counts.whole} did no harm`);
}

describe("a store with a damage somewhere in its files", () => {
  const timeout = 120_000 + damages * 2_000;
  it("ends no process, and loses nothing silently, after its process was killed", { timeout }, (t) => play(t, false));
  it("ends no process, and loses nothing silently, after it was closed", { timeout }, (t) => play(t, true));
});
