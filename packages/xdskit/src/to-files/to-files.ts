import { resolve } from "node:path";
import { type Registry, XdskitError } from "@xdskit/api";
import type { XdsServer } from "@xdskit/server";
import { findingText } from "../output/failure.js";
import type { Log } from "../output/log.js";
import { createFileForm } from "./file-form.js";
import type { FileFormat } from "./file-formats.js";
import { openFilesFolder } from "./files-folder.js";
import { createSnapshotWriter } from "./write-snapshots.js";

/** What `--to-files…` was asked for. */
export interface ToFilesSettings {
  readonly directory: string;
  /** Undefined: the only group there is. */
  readonly group: string | undefined;
  /** What clients call the folder; undefined: its absolute path. */
  readonly path: string | undefined;
  /** Default: JSON. */
  readonly format?: FileFormat | undefined;
}

export interface ToFilesOptions extends ToFilesSettings {
  readonly server: XdsServer;
  /** The names of all groups. */
  readonly groups: readonly string[];
  readonly registry: Registry | undefined;
  readonly log: Log;
  /** How long what was removed stays. Default 2,000. */
  readonly lingerMs?: number | undefined;
}

/** What writes the files. */
export interface ToFiles {
  /** Resolves when all that there is now was written, or could not be. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** As long as the server keeps what is drained, by default. */
const usualLingerMs = 2_000;
/** Long against what it takes to hear of a file, short against what a person waits for. */
const pauseMs = 200;
const retryMs = 1_000;

/**
 * Writes what a group is served to a folder, and follows it. Nothing is written before something is known of the group.
 * Rejects with an XdskitError where the folder or the group is none.
 */
export async function startToFiles(options: ToFilesOptions): Promise<ToFiles> {
  const { server, directory, registry, log, lingerMs = usualLingerMs } = options;
  const group = groupOfFiles(options.group, options.groups);
  const folder = await openFilesFolder(directory, server.types);
  const writer = createSnapshotWriter({
    folder,
    types: server.types,
    registry,
    lingerMs,
    pauseMs,
    path: options.path?.replace(/\/$/, "") ?? resolve(directory),
    unwritable: ({ findings }) => {
      for (const finding of findings) log.error({ finding }, `left out of the files: ${findingText(finding)}`);
    },
    form: createFileForm(options.format ?? "json", registry, (findings) => {
      for (const finding of findings) log.warn({ finding }, `in the files: ${findingText(finding)}`);
    }),
    now: () => performance.now(),
  });
  await writer.begin();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;
  /** Why files cannot be written; undefined: they can. It is tried again every second, and told once. */
  let wrong: string | undefined;

  function wake(): void {
    if (closed) return;
    clearTimeout(timer);
    again = true;
    running ??= run().finally(() => {
      running = undefined;
    });
  }

  async function run(): Promise<void> {
    while (again && !closed) {
      // What is told of just now is there in the next turn.
      await new Promise((done) => setImmediate(done));
      again = false;
      const snapshot = server.snapshotOf(group);
      if (snapshot === undefined) continue;
      let wait: number | undefined;
      try {
        await writer.bring(snapshot);
        const { deadline } = writer;
        wait = deadline && Math.max(0, deadline - performance.now());
        if (wrong !== undefined) log.info({ directory }, "files are written again");
        wrong = undefined;
      } catch (error) {
        // The message may have the name of a draft in it, which is another each time.
        const { message: reason, code = reason } = error as NodeJS.ErrnoException;
        log[code === wrong ? "debug" : "error"]({ directory, reason }, "files cannot be written; they are tried again");
        wrong = code;
        wait = retryMs;
      }
      if (wait !== undefined && !closed) timer = setTimeout(wake, wait);
    }
  }

  const stop = server.on(({ kind }) => {
    if (kind === "configuration-applied" || kind === "on-demand") wake();
  });
  wake();
  return {
    async settled() {
      while (running !== undefined) await running;
    },
    async close() {
      closed = true;
      stop();
      clearTimeout(timer);
      await running;
    },
  };
}

/** Whose resources are written. Throws an XdskitError where that is not clear. */
export function groupOfFiles(group: string | undefined, groups: readonly string[]): string {
  const [only = "", ...more] = groups;
  if (group === undefined && more.length === 0) return only;
  if (group !== undefined && groups.includes(group)) return group;
  const known = groups.join(", ");
  throw XdskitError.of(
    "XDSKIT_TO_FILES",
    group === undefined
      ? `which group's resources are to be written? Name one by --to-files-group: ${known}`
      : `there is no group ${JSON.stringify(group)}; there are ${known}`,
  );
}
