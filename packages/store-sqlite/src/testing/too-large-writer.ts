// A process that writes small values, and beside each a value that is too large for its disk, at another moment each
// time: `node too-large-writer.js FILE`. It prints how many of each were written.
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { SqliteTables } from "../sqlite-tables.js";
import { makeStore } from "../store-file.js";

const rounds = 60;
const file = process.argv[2] ?? "";
await makeStore(file);
const tables = new SqliteTables(file);
const written = { small: 0, large: 0 };

async function write(size: keyof typeof written, bytes: number): Promise<void> {
  try {
    await tables.write((writer) => writer.put("contents", size, Buffer.alloc(bytes, "x")));
    written[size] += 1;
  } catch {
    // It is not counted.
  }
}

for (let round = 0; round < rounds; round += 1) {
  const small = write("small", 1_000);
  for (let turn = 0; turn < round % 6; turn += 1) await nextTurn();
  if (round % 3 === 2) await sleep(1);
  await Promise.all([small, write("large", 9_000_000)]);
}
await tables.close();
console.log(JSON.stringify(written));
