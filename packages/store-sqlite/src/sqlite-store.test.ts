import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeStore } from "@xdskit/server/store-contract";
import { openSqliteStore } from "./index.js";

let directory = "";

const open = async () => (await openSqliteStore(directory)).store;

describeStore({
  name: "SQLite",
  async create() {
    directory = await mkdtemp(join(tmpdir(), "xdskit-sqlite-"));
    return await open();
  },
  reopen: open,
  other: open,
  dispose: () => rm(directory, { recursive: true, force: true }),
});
