import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeStore } from "@xdskit/server/store-contract";
import { openLmdbStore } from "./index.js";

let directory = "";

const open = async () => (await openLmdbStore(directory)).store;

describeStore({
  name: "LMDB",
  async create() {
    directory = await mkdtemp(join(tmpdir(), "xdskit-lmdb-"));
    return await open();
  },
  reopen: open,
  other: open,
  dispose: () => rm(directory, { recursive: true, force: true }),
});
