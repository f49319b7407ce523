import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Store } from "@xdskit/server";
import { open } from "lmdb";
import { LmdbTables } from "./lmdb-tables.js";
import { openLmdbStore, readLmdbStore } from "./open-lmdb-store.js";

/** The length of random tests, in multiples of the suite's; `npm run test:long` plays fifty times as long. */
const effort = Number(process.env.EFFORT ?? 1);

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "xdskit-lmdb-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Damages a file: this many bytes from a position on. */
function overwrite(path: string, from: number, bytes: number): void {
  const handle = openSync(path, "r+");
  writeSync(handle, Buffer.alloc(bytes, "y"), 0, bytes, from);
  closeSync(handle);
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
  const tables = await LmdbTables.open(join(directory, "revisions.mdb"), { readOnly: true });
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
      const { store, findings } = await openLmdbStore(directory);
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
      const { store, findings } = await openLmdbStore(directory);
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
    const tables = await LmdbTables.open(join(directory, "revisions.mdb"));
    await tables.write((writer) => {
      writer.put("meta", "format", 1);
      writer.put("meta", "ahead", true);
      writer.put("contents", "nobody", Buffer.from("x"));
    });
    await tables.close();
    const { store } = await openLmdbStore(directory);
    await store.close();
    const left = await LmdbTables.open(join(directory, "revisions.mdb"));
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
    const { store, findings } = await openLmdbStore(directory);
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
      const store = await readLmdbStore(directory);
      numbers.push((await store.head("a"))?.number ?? 0);
      await store.close();
    }
    await writer.kill(0);
    assert.deepEqual(writer.errors, []);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
    const { store } = await openLmdbStore(directory);
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
        /revisions\.mdb: the store cannot be written: [\w /]+(?: \(is the disk full\?\))? \[XDSKIT_STORE\]$/,
      );
    assert.ok(writer.isClosed);
    assert.ok(writer.acknowledged.length > 3);
    const { store } = await openLmdbStore(directory);
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

describe("a store that is opened", () => {
  const killed = mkdtempSync(join(tmpdir(), "xdskit-lmdb-"));
  const ends: (() => void)[] = [() => rmSync(killed, { recursive: true, force: true })];
  before(() => new Writer({ after: (end) => ends.unshift(end) }, killed, "a").kill(0));
  after(() => {
    for (const end of ends) end();
  });

  /** What a killed process left, in a folder of the test's own. */
  function made(t: TestContext): string {
    const directory = folder(t);
    cpSync(killed, directory, { recursive: true });
    return directory;
  }
  const file = (directory: string) => join(directory, "revisions.mdb");

  /** Until the test ends or `NODE_OPTIONS` is deleted, the process that reads all of a file does not start. */
  function withoutReader(t: TestContext): void {
    process.env.NODE_OPTIONS = "--no-such-option";
    t.after(() => delete process.env.NODE_OPTIONS);
  }

  for (const [how, spoil] of Object.entries({
    // Its heads and a page: at its end are pages that no revision needs, if the process was killed before its next one.
    "cut off": (path: string) => truncateSync(path, 12_288),
    "something else": (path: string) => writeFileSync(path, "x".repeat(10_000)),
    "a few bytes": (path: string) => writeFileSync(path, "hello"),
  })) {
    it(`a file that is ${how} is set aside, and a finding says so`, async (t) => {
      const directory = made(t);
      spoil(file(directory));
      const { store, findings } = await openLmdbStore(directory);
      assert.deepEqual(await store.heads(), []);
      await store.close();
      const [finding] = findings;
      assert.equal(finding?.code, "XDSKIT_STORE");
      const aside = readdirSync(directory).find((name) => name.includes(".set-aside-")) ?? assert.fail();
      assert.ok(finding?.message.includes(aside), finding?.message);
    });
  }

  it("the opened store is not ended twice by damage that only reading finds", { timeout: 60_000 }, async (t) => {
    const directory = made(t);
    const { size } = statSync(file(directory));
    // Everything but the head: LMDB itself would end the process.
    overwrite(file(directory), 8_192, size - 8_192);
    // In the state that a process leaves if it dies while it opens the file.
    writeFileSync(join(directory, `opening.${process.pid}.earlier`), "");
    const { store, findings } = await openLmdbStore(directory);
    assert.deepEqual(await store.heads(), []);
    assert.match(findings[0]?.message ?? "", /^it cannot be read; it was set aside/);
    await store.close();
  });

  it("the opened store keeps a whole file if a process died while it opened it", async (t) => {
    const directory = made(t);
    const dead = new Writer(t, folder(t), "a");
    await dead.kill(0);
    // An earlier process may also have had the number of this one, as in a container.
    for (const pid of [dead.process.pid, process.pid]) {
      writeFileSync(join(directory, `opening.${pid}.earlier`), "");
      const { store, findings } = await openLmdbStore(directory);
      assert.deepEqual(findings, []);
      assert.ok(await store.head("a"));
      await store.close();
      assert.deepEqual(readdirSync(directory).sort(), ["revisions.mdb", "revisions.mdb-lock"]);
    }
  });

  it("the opened store takes the file of a process that was killed before it made a table", async (t) => {
    const directory = folder(t);
    await open({ path: file(directory), noSubdir: true, overlappingSync: false }).close();
    writeFileSync(join(directory, `opening.${process.pid}.earlier`), "");
    const { store, findings } = await openLmdbStore(directory);
    assert.deepEqual([findings, await store.heads()], [[], []]);
    await store.close();
  });

  it("a file stays where it is while nobody can tell whether it is damaged", async (t) => {
    const directory = made(t);
    writeFileSync(join(directory, `opening.${process.pid}.earlier`), "");
    withoutReader(t);
    const refused = { code: "XDSKIT_STORE", message: /nobody knows whether it is damaged.*no-such-option/ };
    await assert.rejects(openLmdbStore(directory), refused);
    delete process.env.NODE_OPTIONS;
    const { store, findings } = await openLmdbStore(directory);
    assert.deepEqual([findings, (await store.head("a")) !== undefined], [[], true]);
    await store.close();
  });

  it("a file is not read whole because a live process is just opening it", async (t) => {
    const directory = made(t);
    const elsewhere = folder(t);
    await new Writer(t, elsewhere, "a").first();
    const [open = ""] = readdirSync(elsewhere).filter((name) => name.startsWith("open."));
    writeFileSync(join(directory, open.replace("open", "opening")), "");
    withoutReader(t);
    const { store, findings } = await openLmdbStore(directory);
    assert.deepEqual([findings, (await store.head("a")) !== undefined], [[], true]);
    await store.close();
  });

  it("a damaged file stays where it is as long as another process has it open", { timeout: 60_000 }, async (t) => {
    const directory = folder(t);
    const writer = new Writer(t, directory, "a");
    await writer.first();
    const { pid = 0 } = writer.process;
    writer.process.kill("SIGSTOP");
    truncateSync(file(directory), 12_288);
    const refused = {
      code: "XDSKIT_STORE",
      message: new RegExp(`it is cut off: .*; it stays .* process ${pid} has it`),
    };
    await assert.rejects(openLmdbStore(directory), refused);
    await assert.rejects(openLmdbStore(directory, { damage: "it could not be read" }), {
      code: "XDSKIT_STORE",
      message: /it could not be read; it stays where it is/,
    });
    const [open = "", ...others] = readdirSync(directory).sort();
    assert.ok(open.startsWith(`open.${pid}.`), open);
    assert.deepEqual(others, ["revisions.mdb", "revisions.mdb-lock"]);
    writer.process.kill("SIGKILL");
    await writer.ended;
    const { store, findings } = await openLmdbStore(directory);
    assert.match(findings[0]?.message ?? "", /it is cut off: .*; it was set aside/);
    await store.close();
    assert.ok(!readdirSync(directory).includes(open));
  });

  it("a damaged file is set aside though another program has the number of a process that had it open", async (t) => {
    const directory = made(t);
    truncateSync(file(directory), 12_288);
    writeFileSync(join(directory, `open.${process.ppid}.earlier`), "");
    const { store, findings } = await openLmdbStore(directory);
    assert.match(findings[0]?.message ?? "", /it is cut off: .*; it was set aside/);
    await store.close();
  });

  it("the opened store checks the whole file at the next start if a part cannot be read", {
    timeout: 60_000,
  }, async (t) => {
    const directory = folder(t);
    let { store } = await openLmdbStore(directory);
    const upsert = Array.from({ length: 3_000 }, (_, index) => {
      return { type: "t", key: `r${index}`, version: "1", bytes: Buffer.alloc(200, "x") };
    });
    const info = { author: "", cause: { kind: "api" as const, caller: "" }, message: "", time: 1 };
    await store.commit([{ layer: "a", parent: undefined, kind: "replace", upsert }], info);
    await store.close();
    const { size } = statSync(file(directory));
    // Not the first pages, which opening reads, nor the last: those of the newest commit.
    overwrite(file(directory), 40_960, Math.floor(size / 2));
    const opened = await openLmdbStore(directory).catch(() => undefined);
    const head = await opened?.store.head("a").catch(() => undefined);
    if (head !== undefined) await assert.rejects(opened?.store.read(head.id) ?? Promise.resolve(), /XDSKIT_STORE/);
    await opened?.store.close();
    ({ store } = await openLmdbStore(directory));
    assert.deepEqual(await store.heads(), []);
    assert.ok(readdirSync(directory).some((name) => name.includes(".set-aside-")));
    await store.close();
  });

  it("the opened store keeps nothing of a transaction whose work fails", async (t) => {
    const tables = await LmdbTables.open(join(folder(t), "a.mdb"));
    const fail = tables.write((writer) => {
      writer.put("meta", "a", 1);
      throw new Error("half way");
    });
    await assert.rejects(fail, /XDSKIT_STORE|half way/);
    assert.equal(
      tables.read((reader) => reader.get("meta", "a")),
      undefined,
    );
    await tables.close();
  });

  it("the opened store refuses the file of a newer xdskit, and leaves it", async (t) => {
    const directory = made(t);
    const tables = await LmdbTables.open(file(directory));
    await tables.write((writer) => writer.put("meta", "format", 2));
    await tables.close();
    const refused = { code: "XDSKIT_STORE", message: /a newer xdskit wrote it, in format 2; this one reads format 1/ };
    await assert.rejects(openLmdbStore(directory), refused);
    assert.deepEqual(readdirSync(directory).sort(), ["revisions.mdb", "revisions.mdb-lock"]);
  });

  it("the opened store rejects with its folder and the reason if it cannot be written", async (t) => {
    const directory = folder(t);
    writeFileSync(join(directory, "file"), "");
    const refused = { code: "XDSKIT_STORE", message: /file\/state: it cannot be opened: ENOTDIR/ };
    await assert.rejects(openLmdbStore(join(directory, "file/state")), refused);
  });

  it("the opened store keeps its files from other users", async (t) => {
    const directory = join(folder(t), "state");
    const { store } = await openLmdbStore(directory);
    for (const name of readdirSync(directory)) assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    await store.close();
    chmodSync(directory, 0o700);
  });
});
