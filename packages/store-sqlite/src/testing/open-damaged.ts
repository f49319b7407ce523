// A process that opens damaged stores, one after the other: `node open-damaged.js TRUTH DIRECTORY…`. For each it prints
// "begin", and then what became of it: "whole" if all is there and nothing was said, "told: …", or "silent: …".
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { Store } from "@xdskit/server";
import { openSqliteStore } from "../open-sqlite-store.js";
import type { Truth } from "./truth.js";

const [, , truthFile = "", ...directories] = process.argv;
const truth = JSON.parse(readFileSync(truthFile, "utf8")) as Truth;

for (const directory of directories) {
  console.log("begin");
  console.log(await outcome(directory));
}

async function outcome(directory: string): Promise<string> {
  let store: Store | undefined;
  try {
    const opened = await openSqliteStore(directory);
    store = opened.store;
    const [finding] = opened.findings;
    // What is left must be right.
    const wrong = await wrongWith(store, finding !== undefined);
    if (wrong !== undefined) return `silent: ${wrong}`;
    return finding === undefined ? "whole" : `told: ${finding.message}`;
  } catch (error) {
    return `told: ${(error as Error).message}`;
  } finally {
    await store?.close();
  }
}

/** What differs from what was acknowledged; `mayMiss`: the newest revisions may be missing. */
async function wrongWith(store: Store, mayMiss: boolean): Promise<string | undefined> {
  const known = new Map(Object.entries(truth.revisions));
  const history = await store.history(truth.layer, { limit: 10_000 });
  const ids = new Set(history.map(({ id }) => id));
  for (const id of known.keys()) {
    if (!mayMiss && !ids.has(id)) return `${id} is missing`;
    if ((await store.revision(id)) === undefined && ids.has(id)) return `${id} is missing`;
  }
  if ((await store.head(truth.layer))?.id !== history[0]?.id) return "the head is another one";
  for (const { id } of history) {
    const content = (await store.read(id)).map(({ key, bytes }) => [key, Buffer.from(bytes).toString()] as const);
    const wanted = known.get(id);
    // It was committed right before the process was killed, and nobody was told.
    if (wanted === undefined) continue;
    if (!isDeepStrictEqual(Object.fromEntries(content), wanted)) return `${id} has another content`;
  }
  return undefined;
}
