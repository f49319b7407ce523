import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "@bufbuild/protobuf";
import { writeMessage } from "@xdskit/api";
import { describeSource } from "../../testing/source-contract.js";
import { createFolderSource } from "./folder-source.js";

describeSource({
  name: "folder",
  async create(messages) {
    const parent = await mkdtemp(join(tmpdir(), "xdskit-source-"));
    const directory = join(parent, "current");
    let releases = 0;
    const swap = async (files: ReadonlyMap<string, string | Uint8Array>) => {
      releases += 1;
      const release = join(parent, `${releases}`);
      await mkdir(release);
      for (const [name, content] of files) await writeFile(join(release, name), content);
      await symlink(release, `${directory}.next`);
      await rename(`${directory}.next`, directory);
    };
    const set = (next: readonly Message[]) =>
      swap(new Map(next.map((message, index) => [`${index}.json`, writeMessage(message, "json")])));
    await set(messages);
    return {
      source: createFolderSource({ directory, settleMs: 20 }),
      set,
      spoil: () => swap(new Map([["0.json", "{"]])),
      dispose: () => rm(parent, { recursive: true }),
    };
  },
});
