import { resolve } from "node:path";
import type { Log } from "@xdskit/admin/log";
import { findingText, type Registry, XdskitError } from "@xdskit/api";
import type { XdsServer } from "@xdskit/server";
import { createFileForm } from "./file-form.js";
import type { FileFormat } from "./file-formats.js";
import { openFilesFolder } from "./files-folder.js";
import { SnapshotWriter } from "./write-snapshots.js";

/** The options of `--to-files…`. */
export interface ToFilesSettings {
  readonly directory: string;
  /** Undefined: the only group. */
  readonly group: string | undefined;
  /** The clients' path of the folder; undefined: its absolute path. */
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
  /** How long removed resources stay. Default 2,000. */
  readonly lingerMs?: number | undefined;
}

/** As long as the server keeps draining resources, by default. */
const usualFilesLingerMs = 2_000;
/** Much longer than a client needs to hear of a file, and short for a person who waits. */
const filesPauseMs = 200;
const filesRetryMs = 1_000;

/** What writes the files. */
export interface ToFiles {
  /** Resolves when all present changes were written, or failed. */
  finished(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Writes the served resources of a group to a folder, and follows them. Nothing is written before the group is known.
 * Rejects with an XdskitError for an invalid folder or group.
 */
export async function startToFiles(options: ToFilesOptions): Promise<ToFiles> {
  const { server, directory, registry, log, lingerMs = usualFilesLingerMs } = options;
  const group = groupOfFiles(options.group, options.groups);
  const folder = await openFilesFolder(directory, server.types);
  const writer = await SnapshotWriter.open({
    folder,
    types: server.types,
    registry,
    lingerMs,
    pauseMs: filesPauseMs,
    path: options.path?.replace(/\/$/, "") ?? resolve(directory),
    unwritable: ({ findings }) => {
      for (const finding of findings)
        log.error("finding", { finding }, `left out of the files: ${findingText(finding)}`);
    },
    form: createFileForm(options.format ?? "json", registry, (findings) => {
      for (const finding of findings) log.warn("finding", { finding }, `in the files: ${findingText(finding)}`);
    }),
    now: () => performance.now(),
  });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;
  /** Why files cannot be written; undefined: they can. It tries again every second, and logs the error once. */
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
      // Changes of this turn are there in the next one.
      await new Promise((done) => setImmediate(done));
      again = false;
      const snapshot = server.snapshotOf(group);
      if (snapshot === undefined) continue;
      let wait: number | undefined;
      try {
        await writer.bring(snapshot);
        const { deadline } = writer;
        wait = deadline && Math.max(0, deadline - performance.now());
        if (wrong !== undefined) log.info("to-files-resumed", { directory }, "files are written again");
        wrong = undefined;
      } catch (error) {
        // The message may hold the name of a draft, which differs each time.
        const { message: reason, code = reason } = error as NodeJS.ErrnoException;
        log[code === wrong ? "debug" : "error"](
          "to-files-failed",
          { directory, reason },
          "files cannot be written; they are tried again",
        );
        wrong = code;
        wait = filesRetryMs;
      }
      if (wait !== undefined && !closed) timer = setTimeout(wake, wait);
    }
  }

  const stop = server.on(wake, (kind) => kind === "configuration-applied" || kind === "on-demand");
  wake();
  return {
    async finished() {
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

/** The group to write. Throws an XdskitError if it is not clear. */
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
