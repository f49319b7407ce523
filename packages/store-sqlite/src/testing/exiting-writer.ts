// A process that ends by `process.exit` in the middle of a commit: `node exiting-writer.js DIRECTORY RESOURCES TURNS`.
// It prints "exit" after so many turns of its event loop, right before it ends.
import { setImmediate as nextTurn } from "node:timers/promises";
import { openSqliteStore } from "../open-sqlite-store.js";

const [, , directory = "", resources = "", turns = ""] = process.argv;
const { store } = await openSqliteStore(directory);
const commit = (parent: string | undefined, value: string, count: number) => {
  const upsert = Array.from({ length: count }, (_, index) => {
    const key = `r${index}`;
    return { type: "t", key, version: value, bytes: Buffer.from(`${key} ${value}`) };
  });
  const info = { author: "", cause: { kind: "api" as const, caller: "" }, message: "", time: Date.now() };
  return store.commit([{ layer: "a", parent, kind: "replace", upsert }], info);
};

const first = await commit(undefined, "first", 1);
const parent = first.kind === "committed" ? first.heads[0]?.id : undefined;
console.log(parent);
void commit(parent, "second", Number(resources));
for (let turn = 0; turn < Number(turns); turn += 1) await nextTurn();
// Threads that wait for this one come to where they wait.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
console.log("exit");
process.exit(3);
