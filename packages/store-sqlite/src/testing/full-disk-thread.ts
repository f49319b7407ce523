// A process that fills its disk, and then has the write thread commit contents that the file has already:
// `node full-disk-thread.js DIRECTORY`. It prints what becomes of the commit.
import { join } from "node:path";
import type { CommitInfo, StoredResource } from "@xdskit/server";
import { contentKey } from "@xdskit/server/tables";
import { SqliteTables } from "../sqlite-tables.js";
import { makeStore } from "../store-file.js";
import { WriteThread } from "../write-thread/write-thread.js";

const file = join(process.argv[2] ?? "", "revisions.db");
const info: CommitInfo = { author: "", cause: { kind: "api", caller: "" }, message: "", time: 1_000 };
const upsert = Array.from({ length: 3_000 }, (_, index): StoredResource => {
  return { type: "T", key: `r${index}`, version: "1", bytes: Buffer.from("x") };
});

await makeStore(file);
const tables = new SqliteTables(file);
await tables.write((writer) => {
  for (const { type, key, version, bytes } of upsert) writer.put("contents", contentKey(type, key, version), bytes);
});
for (let bytes = 1 << 20, index = 0; bytes > 2_000; index += 1) {
  const filled = tables.write((writer) => writer.put("contents", `filler ${index}`, Buffer.alloc(bytes)));
  if (await filled.then(() => false).catch(() => true)) bytes /= 2;
}
const committed = new WriteThread(file).commit(
  [{ layer: "a", parent: undefined, kind: "patch", upsert }],
  info,
  undefined,
);
console.log(await committed.then((result) => JSON.stringify(result) ?? "undefined").catch(({ message }) => message));
await tables.close();
