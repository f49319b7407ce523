import fs from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { Source } from "../../contracts/source.js";
import type { FolderSourceOptions } from "../../sources/folder/folder-options.js";
import { createFolderSource } from "../../sources/folder/folder-source.js";
import type { FolderSummary } from "../../sources/folder/folder-summary.js";
import { RecordingSink } from "../recording-sink.js";

/**
 * A folder for one test. Its operations run in one turn of the event loop, even several in a row, unless the test waits
 * for something in between. So no settling time can end between them, however slow the machine is.
 */
export interface TemporaryFolder {
  readonly path: string;
  /** An absolute path of something below it. */
  at(path: string): string;
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Writes as a careful program does: to another name, then renamed into place. */
  replace(path: string, content: string): Promise<void>;
  folder(path: string): Promise<void>;
  link(target: string, path: string): Promise<void>;
  /** Points a link elsewhere by renaming a new one over it. */
  swapLink(target: string, path: string): Promise<void>;
  remove(path: string): Promise<void>;
}

export async function temporaryFolder(test: TestContext): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "xdskit-folder-")));
  test.after(() => rm(path, { recursive: true, force: true }));
  const at = (below: string) => join(path, below);
  const write = async (below: string, content: string | Uint8Array) => {
    fs.mkdirSync(dirname(at(below)), { recursive: true });
    fs.writeFileSync(at(below), content);
  };
  return {
    path,
    at,
    write,
    replace: async (below, content) => {
      await write(`${below}.new`, content);
      fs.renameSync(at(`${below}.new`), at(below));
    },
    folder: async (below) => void fs.mkdirSync(at(below), { recursive: true }),
    link: async (target, below) => fs.symlinkSync(target, at(below)),
    swapLink: async (target, below) => {
      fs.symlinkSync(target, at(`${below}.swap`));
      fs.renameSync(at(`${below}.swap`), at(below));
    },
    remove: async (below) => fs.rmSync(at(below), { recursive: true }),
  };
}

/** A source under test with its results. */
export interface SourceUnderTest {
  readonly source: Source;
  readonly sink: RecordingSink;
  readonly summaries: readonly FolderSummary[];
}

/**
 * A folder source that is closed with the test; its safety poll is off, so that the watching is tested, and it does not
 * wait longer for files that are written in place.
 */
export function folderSource(test: TestContext, options: FolderSourceOptions): SourceUnderTest {
  const summaries: FolderSummary[] = [];
  const source = createFolderSource({
    pollMs: 0,
    writeSettleMs: 0,
    onRead: (summary) => summaries.push(summary),
    ...options,
  });
  test.after(() => source.close());
  return { source, sink: new RecordingSink(), summaries };
}

/** The same, started. */
export async function startedSource(test: TestContext, options: FolderSourceOptions): Promise<SourceUnderTest> {
  const started = folderSource(test, options);
  await started.source.start(started.sink);
  return started;
}

/** A file with clusters. The number makes contents differ. */
export function clusters(names: readonly string[], seconds = 1): string {
  const cluster = (name: string) =>
    `- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: ${name}\n  connect_timeout: ${seconds}s\n`;
  return names.map(cluster).join("");
}
