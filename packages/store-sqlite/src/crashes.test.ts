import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Store } from "@xdskit/server";
import { effort } from "../../api/src/testing/effort.js";
import { openSqliteStore, readSqliteStore } from "./open-sqlite-store.js";
import { SqliteTables } from "./sqlite-tables.js";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "xdskit-sqlite-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A commit of this many resources is written by the write thread, its contents before it. */
const large = 1_500;

/** A process that writes, and the revisions that the store acknowledged to it. */
class Writer {
  readonly acknowledged: string[] = [];
  /** The commits that it began. */
  begun = 0;
  /** It closed its store in order. */
  isClosed = false;
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly errors: string[] = [];
  readonly #first: Promise<void>;

  constructor(
    t: { after(end: () => void): void },
    directory: string,
    layer: string,
    { bytes = 100, resources = 20, limitKb = 0 } = {},
  ) {
    // In the mode of this test: from sources, or as built.
    const program = fileURLToPath(import.meta.url).replace(/crashes\.test\.(\w+)$/, "testing/writer.$1");
    const run = [process.execPath, ...process.execArgv, program, directory, layer, `${bytes}`, `${resources}`];
    const [command = "", ...args] =
      limitKb === 0 ? run : ["sh", "-c", `ulimit -f ${limitKb * 2}; exec "$@"`, "sh", ...run];
    this.process = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    t.after(() => this.process.kill("SIGKILL"));
    const { stdout, stderr } = this.process;
    assert.ok(stdout !== null && stderr !== null);
    this.#first = new Promise((resolve) => {
      createInterface(stdout).on("line", (line) => {
        if (line === "begin") this.begun += 1;
        else if (line === "closed") this.isClosed = true;
        else if (line !== "open") this.acknowledged.push(line);
        if (this.acknowledged.length > 0) resolve();
      });
    });
    createInterface(stderr).on("line", (line) => this.errors.push(line));
    this.ended = new Promise((resolve) => this.process.once("close", (code) => resolve(code)));
  }

  /** Resolves once its first revision is safe. */
  async first(): Promise<void> {
    await Promise.race([this.#first, this.ended]);
    assert.ok(this.acknowledged.length > 0, this.errors.join("\n"));
  }

  /** Kills it some time after its first revision was safe. */
  async kill(afterMs: number): Promise<void> {
    await this.first();
    await sleep(afterMs);
    this.process.kill("SIGKILL");
    await this.ended;
  }
}

/** Asserts that each acknowledged revision exists, and that each existing one is whole. */
async function assertWhole(
  store: Store,
  layer: string,
  acknowledged: readonly string[],
  resources = 20,
): Promise<void> {
  for (const [index, id] of acknowledged.entries())
    assert.ok(await store.revision(id), `${id} is lost, ${index} of ${acknowledged.length}`);
  const history = await store.history(layer, { limit: 10_000 });
  assert.deepEqual(
    history.map(({ number }) => number),
    history.map((_, index) => history.length - index),
  );
  for (const { id, number } of history.slice(0, 3)) {
    const held = await store.read(id);
    assert.equal(held.length, resources);
    for (const { key, version, bytes } of held) {
      assert.equal(version, `${number}`);
      assert.match(Buffer.from(bytes).toString(), new RegExp(`^${key} at ${number}\\.`));
    }
  }
}

/** The marks of commits that did not end, and the contents that no revision has. */
async function leftIn(directory: string): Promise<{ readonly ahead: number; readonly unused: number }> {
  const tables = new SqliteTables(join(directory, "revisions.db"), { as: "to read" });
  try {
    return tables.read((reader) => ({
      ahead: [...reader.range("meta", "ahead")].length,
      unused: [...reader.range("contents", "")].filter(([key]) => reader.get("references", key) === undefined).length,
    }));
  } finally {
    await tables.close();
  }
}

describe("a store that is killed", () => {
  it("a killed store loses no acknowledged revision and serves no half one", {
    timeout: 60_000 + 30_000 * effort,
  }, async (t) => {
    const directory = folder(t);
    const acknowledged: string[] = [];
    for (let round = 0; round < 4 * effort; round += 1) {
      const writer = new Writer(t, directory, "a");
      await writer.kill((round * 37) % 101);
      acknowledged.push(...writer.acknowledged);
      const { store, findings } = await openSqliteStore(directory);
      assert.deepEqual(findings, []);
      await assertWhole(store, "a", acknowledged);
      await store.close();
    }
  });

  it("a store that is killed within large commits loses no acknowledged one, and keeps no part of another", {
    timeout: 60_000 + 60_000 * effort,
  }, async (t) => {
    const directory = folder(t);
    const acknowledged: string[] = [];
    const cut = { commits: 0, ahead: 0 };
    // The first kill comes before anything is written.
    const kills = Math.max(2, 2 * effort);
    // A writer that gets no time may do nothing between two kills.
    for (let round = 0; round < kills || (cut.commits === 0 && round < 3 * kills); round += 1) {
      const writer = new Writer(t, directory, "a", { resources: large });
      await writer.kill((round * 137) % 401);
      if (writer.begun > writer.acknowledged.length) cut.commits += 1;
      acknowledged.push(...writer.acknowledged);
      if ((await leftIn(directory)).ahead > 0) cut.ahead += 1;
      const { store, findings } = await openSqliteStore(directory);
      assert.deepEqual(findings, []);
      await assertWhole(store, "a", acknowledged, large);
      await store.close();
      assert.deepEqual(await leftIn(directory), { ahead: 0, unused: 0 });
    }
    t.diagnostic(`${cut.commits} of at least ${kills} kills cut a commit off, ${cut.ahead} after its first contents`);
    assert.ok(cut.commits > 0);
    // Two kills may both come at another moment.
    assert.ok(cut.ahead > 0 || effort < 10);
  });

  it("a killed store keeps nothing of a large commit that did not end", async (t) => {
    const directory = folder(t);
    await (await openSqliteStore(directory)).store.close();
    const tables = new SqliteTables(join(directory, "revisions.db"));
    await tables.write((writer) => {
      writer.put("meta", "ahead", true);
      writer.put("contents", "nobody", Buffer.from("x"));
    });
    await tables.close();
    const { store } = await openSqliteStore(directory);
    await store.close();
    const left = new SqliteTables(join(directory, "revisions.db"));
    assert.deepEqual(
      left.read((reader) => [...reader.range("contents", "")]),
      [],
    );
    assert.equal(
      left.read((reader) => reader.get("meta", "ahead")),
      undefined,
    );
    await left.close();
  });
});

describe("a store that two processes have open", () => {
  it("a shared store takes one of two commits at the same head, and loses none", { timeout: 60_000 }, async (t) => {
    const directory = folder(t);
    const writers = [new Writer(t, directory, "a"), new Writer(t, directory, "a")];
    await Promise.all(writers.map((writer) => writer.kill(500)));
    assert.deepEqual(
      writers.flatMap(({ errors }) => errors),
      [],
    );
    const { store, findings } = await openSqliteStore(directory);
    assert.deepEqual(findings, []);
    await assertWhole(
      store,
      "a",
      writers.flatMap(({ acknowledged }) => acknowledged),
    );
    const authors = new Set((await store.history("a", { limit: 10_000 })).map(({ author }) => author));
    assert.equal(authors.size, 2);
    await store.close();
  });

  it("a store that others open again and again while it is written loses nothing", {
    timeout: 60_000 + 30_000 * effort,
  }, async (t) => {
    const directory = folder(t);
    const writer = new Writer(t, directory, "a");
    await writer.first();
    const numbers: number[] = [];
    for (let opened = 0; opened < 100 * effort; opened += 1) {
      const store = await readSqliteStore(directory);
      numbers.push((await store.head("a"))?.number ?? 0);
      await store.close();
    }
    await writer.kill(0);
    assert.deepEqual(writer.errors, []);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
    const { store } = await openSqliteStore(directory);
    await assertWhole(store, "a", writer.acknowledged);
    await store.close();
  });
});

describe("a store on a disk that is full", () => {
  it("a store on a full disk refuses commits with the reason, goes on, and keeps the acknowledged revisions", {
    timeout: 60_000,
  }, async (t) => {
    const directory = folder(t);
    const layers = ["a", "b", "c"];
    const writer = new Writer(t, directory, layers.join(","), { bytes: 10_000, limitKb: 4_096 });
    assert.equal(await writer.ended, 0, writer.errors.join("\n"));
    const refused = writer.errors.filter((line) => line.includes("the store cannot be written: "));
    assert.ok(refused.length >= 3, writer.errors.join("\n"));
    for (const line of refused)
      assert.match(
        line,
        /revisions\.db: the store cannot be written: [\w /]+(?: \(is the disk full\?\))? \[XDSKIT_STORE\]$/,
      );
    assert.ok(writer.isClosed);
    assert.ok(writer.acknowledged.length > 3);
    const { store } = await openSqliteStore(directory);
    for (const layer of layers) {
      const acknowledged: string[] = [];
      for (const id of writer.acknowledged) {
        const revision = (await store.revision(id)) ?? assert.fail(`${id} is lost`);
        if (revision.layer === layer) acknowledged.push(id);
      }
      await assertWhole(store, layer, acknowledged);
    }
    await store.close();
  });
});
