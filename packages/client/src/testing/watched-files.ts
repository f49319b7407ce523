import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FilesSettings } from "../options/client-options.js";
import type { UpstreamContext, UpstreamSink } from "../upstreams/contract/upstream.js";
import { createFilesUpstream } from "../upstreams/files/files-upstream.js";
import { type RecordedUpstream, recordUpstream, typeNamed } from "./scripted/recorded-upstream.js";
import { waitFor } from "./wait-for.js";

export const cds = typeNamed("cds");
export const eds = typeNamed("eds");
export const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A file of clusters as JSON; `name=text` has a content. */
export function clusters(version: string, ...items: readonly string[]): string {
  const resources = items.map((item) => {
    const [name, altStatName] = item.split("=");
    return { "@type": clusterUrl, name, altStatName };
  });
  return JSON.stringify({ versionInfo: version, resources });
}

/** A test's own files, and their watchers. */
export interface WatchedFiles extends RecordedUpstream {
  readonly folder: string;
  path(name: string): string;
  /** Writes a file beside and moves it over this one. */
  move(name: string, text: string | Uint8Array): Promise<void>;
  /** Waits until exactly these lines were told since the last wait. */
  told(...lines: readonly (string | RegExp)[]): Promise<void>;
}

/** Runs a test on its own folder. */
export async function withFiles(
  files: (folder: string) => FilesSettings["files"],
  run: (running: WatchedFiles) => Promise<void>,
  options: { context?: Partial<UpstreamContext>; sink?: Partial<Pick<UpstreamSink, "update">> } = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "xdskit-files-"));
  const settings: FilesSettings = { kind: "files", files: files(folder) };
  const recorded = recordUpstream(
    (context, sink) => createFilesUpstream(settings, context, sink),
    options.context,
    options.sink,
  );
  let moves = 0;
  let at = 0;
  try {
    await run({
      ...recorded,
      folder,
      path: (name) => join(folder, name),
      async move(name, text) {
        const beside = join(folder, `.new-${++moves}`);
        await writeFile(beside, text);
        await rename(beside, join(folder, name));
      },
      async told(...expected) {
        const { lines } = recorded;
        await waitFor(
          () => `${expected.join("\n")}\nbut there is\n${lines.slice(at).join("\n")}`,
          () => lines.length >= at + expected.length,
        );
        const since = lines.slice(at);
        at = lines.length;
        assert.equal(since.length, expected.length, since.join("\n"));
        for (const [index, line] of expected.entries()) {
          if (typeof line === "string") assert.equal(since[index]?.replaceAll(folder, "DIR"), line);
          else assert.match(since[index]?.replaceAll(folder, "DIR") ?? "", line);
        }
      },
    });
  } finally {
    await recorded.upstream.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The settings of one file, of clusters. */
export const oneFile =
  (name = "cds.json") =>
  (folder: string) => [{ type: "cds", path: join(folder, name) }];
