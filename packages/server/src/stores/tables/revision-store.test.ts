import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemoryTables } from "./memory-tables.js";
import { RevisionStore } from "./revision-store.js";
import type { Writer } from "./tables.js";

const info = { author: "me", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;

function resources(layer: string, count: number) {
  return Array.from({ length: count }, (_, at) => ({
    type: "type.googleapis.com/x",
    key: `${layer}-${at}`,
    version: "1",
    bytes: Buffer.from("x"),
  }));
}

/** Counts the transactions that leave contents which no revision has, and no mark that says so. */
class WatchedTables extends MemoryTables {
  unmarked = 0;
  marked = 0;

  override async write<T>(work: (writer: Writer) => T): Promise<T> {
    const result = await super.write(work);
    this.read((reader) => {
      const count = (table: "contents" | "references" | "meta", prefix = "") => [...reader.range(table, prefix)].length;
      if (count("contents") === count("references")) return;
      if (count("meta", "ahead") === 0) this.unmarked += 1;
      else this.marked += 1;
    });
    return result;
  }
}

describe("a large revision", () => {
  const stored = async () => {
    const store = await RevisionStore.open("memory", new MemoryTables());
    const commit = async (parent: string | undefined, upsert: ReturnType<typeof resources>) => {
      const done = await store.commit([{ layer: "a", parent, kind: "replace", upsert }], info);
      return done.kind === "committed" ? (done.heads[0]?.id ?? "") : "";
    };
    return { store, commit, id: await commit(undefined, resources("large", 4_000)) };
  };

  it("is read in several turns", async () => {
    const { store, id } = await stored();
    let turns = 0;
    const other = () => {
      turns += 1;
      next = setImmediate(other);
    };
    let next = setImmediate(other);
    assert.equal((await store.read(id)).length, 4_000);
    clearImmediate(next);
    assert.ok(turns >= 3, `${turns} turns of others`);
    await store.close();
  });

  it("may be forgotten while it is read", async () => {
    const { store, commit, id } = await stored();
    const second = await commit(id, []);
    await commit(second, resources("small", 1));
    const reading = store.read(id);
    await store.retain({ revisions: 1, since: Number.POSITIVE_INFINITY });
    await assert.rejects(reading, { code: "XDSKIT_REVISION_UNKNOWN" });
    await store.close();
  });
});

describe("a commit whose contents are written ahead of it", () => {
  it("stays marked when another one ends first", async () => {
    const tables = new WatchedTables();
    const store = await RevisionStore.open("memory", tables);
    const commit = (layer: string, count: number) =>
      store.commit([{ layer, parent: undefined, kind: "patch", upsert: resources(layer, count) }], info);
    await Promise.all([commit("large", 4_000), commit("small", 1_500)]);
    assert.ok(tables.marked > 0);
    assert.equal(tables.unmarked, 0);
    assert.deepEqual(
      tables.read((reader) => [...reader.range("meta", "ahead")]),
      [],
    );
    await store.close();
  });
});
