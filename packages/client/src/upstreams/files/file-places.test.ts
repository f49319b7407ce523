import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { recordUpstream } from "../../testing/scripted/recorded-upstream.js";
import { waitFor } from "../../testing/wait-for.js";
import { cds, clusters, eds, oneFile, withFiles } from "../../testing/watched-files.js";
import { createFilesUpstream } from "./files-upstream.js";

suite("the path of a file", () => {
  test("the path has no new file after a write in place", () =>
    withFiles(
      (folder) => [
        { type: "cds", path: join(folder, "cds.json") },
        { type: "eds", path: join(folder, "eds.json") },
      ],
      async ({ upstream, path, move, told }) => {
        await move("cds.json", clusters("1", "a"));
        upstream.subscribe(cds, ["*"]);
        await told("connected cluster", "+a@1");
        await writeFile(path("cds.json"), clusters("2", "b"));
        // The client noticed a later event, so it noticed this one too.
        upstream.subscribe(eds, ["none"]);
        await told(/^failed endpoint/);
        await move("eds.json", "[]");
        await told("connected endpoint", "!none(told)");
        await move("cds.json", clusters("3", "c"));
        await told("+c@3 -a");
      },
    ));

  test("the path leads to another file when a link in it is swapped", () =>
    withFiles(oneFile(), async ({ upstream, path, move, told }) => {
      await move("one.json", clusters("1", "a"));
      await move("two.json", clusters("2", "b"));
      await symlink("one.json", path("cds.json"));
      upstream.subscribe(cds, ["*"]);
      await told("connected cluster", "+a@1");
      await symlink("two.json", path("next"));
      await rename(path("next"), path("cds.json"));
      await told("+b@2 -a");
      await move("two.json", clusters("3", "b", "c"));
      await told("+c@3");
    }));

  for (const watched of [true, false]) {
    test(`the path may lie in a volume of Kubernetes, whose ..data is swapped, ${watched ? "with" : "without"} watched_directory (rule 153)`, () =>
      withFiles(
        (folder) => [{ type: "cds", path: join(folder, "cds.json"), watchedDirectory: watched ? folder : undefined }],
        async ({ upstream, path, told }) => {
          const publish = async (time: string, text: string) => {
            await mkdir(path(`..${time}`));
            await writeFile(path(`..${time}/cds.json`), text);
            await symlink(`..${time}`, path("..data_tmp"));
            await rename(path("..data_tmp"), path("..data"));
          };
          await publish("1", clusters("1", "a"));
          await symlink("..data/cds.json", path("cds.json"));
          upstream.subscribe(cds, ["*"]);
          await told("connected cluster", "+a@1");
          await publish("2", clusters("2", "b"));
          await rm(path("..1"), { recursive: true });
          await told("+b@2 -a");
          await publish("3", "{");
          await told(/nack/);
          await publish("4", clusters("4", "b", "c"));
          await told("+c@4");
        },
      ));
  }

  test("the path changes only by a move into the folder if there is a watched_directory", () =>
    withFiles(
      (folder) => [{ type: "cds", path: join(folder, "real/cds.json"), watchedDirectory: join(folder, "watched") }],
      async ({ upstream, path, move, told }) => {
        await mkdir(path("real"));
        await mkdir(path("watched"));
        await move("real/cds.json", clusters("1", "a"));
        upstream.subscribe(cds, ["*"]);
        await told("connected cluster", "+a@1");
        const files = [{ type: "cds", path: path("real/cds.json") }];
        const other = recordUpstream((...of) => createFilesUpstream({ kind: "files", files }, ...of));
        try {
          other.upstream.subscribe(cds, ["*"]);
          await waitFor("the other one to read it", () => other.lines.includes("+a@1"));
          await move("real/cds.json", clusters("2", "b"));
          await waitFor("the other one to read it again", () => other.lines.includes("+b@2 -a"));
        } finally {
          await other.upstream.close();
        }
        await move("real/cds.json", clusters("3", "c"));
        await move("watched/any", "");
        await told("+c@3 -a");
      },
    ));
});
