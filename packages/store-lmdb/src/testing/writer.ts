// A process that commits without end, and prints each revision that the store acknowledged:
// `node writer.js DIRECTORY LAYER [BYTES]`.
import { openLmdbStore } from "../open-lmdb-store.js";

const [, , directory = "", layer = "", bytes = "100"] = process.argv;
/** Each commit changes all of these. */
const resources = 20;
const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

const { store } = await openLmdbStore(directory);
console.log("open");
for (;;) {
  const head = await store.head(layer);
  const version = `${(head?.number ?? 0) + 1}`;
  const upsert = Array.from({ length: resources }, (_, index) => {
    const key = `r${index}`;
    return { type, key, version, bytes: Buffer.from(`${key} at ${version}`.padEnd(Number(bytes), ".")) };
  });
  const info = { author: `${process.pid}`, cause: { kind: "api" as const, caller: "" }, message: "", time: Date.now() };
  const result = await store.commit([{ layer, parent: head?.id, kind: "replace", upsert }], info);
  if (result.kind === "committed") console.log(result.heads[0]?.id);
}
