// A process that commits without end, and prints each revision that the store acknowledged:
// `node writer.js DIRECTORY LAYER[,LAYER…] [BYTES] [RESOURCES]`. It prints "open" before the first commit, and "begin"
// before each. A commit of each layer is under way at any time. After three refused commits it closes the store and
// ends.
import { openSqliteStore } from "../open-sqlite-store.js";

/** `resources`: each commit changes this many. */
const [, , directory = "", layers = "", bytes = "100", resources = "20"] = process.argv;
const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

const { store, findings } = await openSqliteStore(directory);
for (const { message } of findings) console.error(message);
console.log("open");
let refused = 0;

async function commitNext(layer: string): Promise<void> {
  const head = await store.head(layer);
  const version = `${(head?.number ?? 0) + 1}`;
  const upsert = Array.from({ length: Number(resources) }, (_, index) => {
    const key = `r${index}`;
    return { type, key, version, bytes: Buffer.from(`${key} at ${version}`.padEnd(Number(bytes), ".")) };
  });
  const info = { author: `${process.pid}`, cause: { kind: "api" as const, caller: "" }, message: "", time: Date.now() };
  console.log("begin");
  const result = await store.commit([{ layer, parent: head?.id, kind: "replace", upsert }], info);
  if (result.kind === "committed") console.log(result.heads[0]?.id);
}

async function commitAlways(layer: string): Promise<void> {
  while (refused < 3) {
    try {
      await commitNext(layer);
    } catch (error) {
      refused += 1;
      console.error((error as Error).message);
    }
  }
}

await Promise.all(layers.split(",").map(commitAlways));
await store.close();
console.log("closed");
