import { relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { leavesOutFiles, pendingSource, type SourceStatus, sourceAfter } from "@xdskit/admin/listener";
import { type Log, logFinding } from "@xdskit/admin/log";
import {
  errorsIn,
  type Finding,
  hasErrors,
  maxListed,
  type Registry,
  type Resource,
  type ResourceTypes,
  type Where,
} from "@xdskit/api";
import {
  type CommitInfo,
  createFolderSource,
  type FolderSummary,
  KeptSource,
  type Revision,
  type RolledBack,
  type Source,
  type Store,
  wholeFolderLayer,
  type XdsServer,
} from "@xdskit/server";
import { createSourceLog } from "../../daemon/logs/source-log.js";
import type { EditResult, NoteFiles } from "../../daemon/open-audit.js";
import type { KeptHistory } from "../../daemon/revisions/retention.js";
import { userName } from "../../process/user-name.js";
import { ignoredFiles, type LoadedSettings } from "../../settings/load-settings.js";
import { folderSettings, groupNames, groupsOfLayers, layersOf, whereServed } from "../../settings/server-settings.js";
import { layerInApi, writtenLayers } from "../../settings/written-layers.js";
import { createDanglingCheck, type DanglingCheck } from "./dangling-check.js";
import { gitCommit } from "./git-commit.js";

/** How the folder is read. */
export interface ServedFolderOptions {
  /** Undefined: there is none, and its layers stay empty. */
  readonly directory: string | undefined;
  /** Milliseconds; undefined: what the settings say. */
  readonly settle?: number;
  readonly allowEmpty: boolean;
  readonly allowPartial: boolean;
}

/** Stands for a folder where only a cluster is served. */
function noFolder(layers: readonly string[]): Source {
  let ended: (() => void) | undefined;
  return {
    name: "no folder",
    async start(sink) {
      ended = () => sink.ended?.();
      sink.apply(layers.map((layer) => ({ layer, kind: "replace", upsert: [] })));
    },
    async close() {
      ended?.();
    },
  };
}

interface FolderContext {
  readonly server: XdsServer;
  readonly loaded: LoadedSettings;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  readonly log: Log;
  /** Undefined: no revisions are kept. */
  readonly store: Store | undefined;
  readonly history: Pick<KeptHistory, "now">;
  /** The store has a last good revision of the folder: nothing else is served while the folder has errors. */
  readonly hasLastGood: boolean;
  /** Of the one that is served, and whose place it takes. */
  readonly before: Pick<ServedFolder, "revision" | "rolledBackBy"> | undefined;
  /** Called when a change of the folder, or a rollback, is kept. */
  readonly onRevision: (revision: Revision) => void;
  readonly noteFiles: NoteFiles;
  /** Called when a reading found nothing that can be served. */
  readonly nothingServed: (findings: readonly Finding[]) => void;
}

/** The layers that the folder of `serve` fills. */
export function folderLayers({ settings }: Pick<LoadedSettings, "settings">): readonly string[] {
  return layersOf(settings) ?? [wholeFolderLayer];
}

/** The folder of `serve`: brings its resources into the server, and logs and keeps what each reading found. */
export class ServedFolder {
  readonly source: Source;
  /** Undefined: no revisions are kept, and there is nothing to roll back to. */
  readonly kept: KeptSource | undefined;
  readonly #around: FolderContext;
  readonly #stopListening: () => void;
  readonly #dangling: DanglingCheck;
  readonly #logReading: (summary: FolderSummary) => "done" | "failed" | undefined;
  #status: SourceStatus;
  #last: FolderSummary | undefined;
  #revision: number;
  /** Why the newest revision is not kept. */
  #problems: readonly Finding[] = [];

  constructor(options: ServedFolderOptions, around: FolderContext) {
    const { server, loaded, registry, types, log, store, hasLastGood, before } = around;
    const isSuccessor = before !== undefined;
    const { settings } = loaded;
    const { directory, allowEmpty, allowPartial, settle } = options;
    const folder = folderSettings(settings);
    this.#around = around;
    this.#revision = before?.revision ?? 0;
    if (directory === undefined) this.source = noFolder(folderLayers(loaded));
    else {
      const source = createFolderSource({
        ...folder,
        directory,
        ignore: ignoredFiles(loaded),
        allowEmpty,
        allowPartial: allowPartial && !hasLastGood && !isSuccessor,
        waits: hasLastGood || isSuccessor,
        settleMs: settle ?? folder.settleMs,
        read: { registry, types },
        onRead: (summary) => this.#read(summary),
      });
      this.kept = store === undefined ? undefined : this.#kept(source, store, directory);
      this.source = this.kept ?? source;
    }
    this.#status = pendingSource(this.source.name, directory ?? "");
    this.#logReading = createSourceLog(
      log,
      ({ changedLayers }) => ({
        revision: this.#revision,
        groups: groupsOfLayers(settings, changedLayers),
      }),
      hasLastGood || isSuccessor,
    );
    this.#dangling = createDanglingCheck({
      groups: groupNames(settings),
      namesOf: server.danglingNames,
      types: server.types,
      registry,
      except: () => server.referencesExcept,
      whereIs: (group, resource) => this.whereIs(group, resource),
    });
    this.#stopListening = server.on(
      (event) => {
        if (event.kind === "configuration-applied") this.#revision = event.revision;
      },
      (kind) => kind === "configuration-applied",
    );
  }

  /** The number of the newest change of the configuration that it saw. */
  get revision(): number {
    return this.#revision;
  }

  /** The revision that a rollback made which holds. */
  get rolledBackBy(): string | undefined {
    return this.#status.rolledBack?.revision;
  }

  /** How many files there are. */
  get files(): number {
    return this.#last?.files ?? 0;
  }

  /** Where a resource of a group is: in a file, or in a layer that the API writes. */
  whereIs(group: string, resource: Pick<Resource, "type" | "key">): Where | undefined {
    const { loaded, server } = this.#around;
    const isWritten = (layer: string) => writtenLayers(loaded.settings).some(({ name }) => name === layer);
    return whereServed(loaded.settings, group, (layer) => {
      if (!isWritten(layer)) return this.#last?.whereIs(layer, resource);
      const isThere = server.layerSnapshot(layer)?.of(resource.type).get(resource.key) !== undefined;
      return isThere ? { file: `layer ${layer}` } : undefined;
    });
  }

  /** Nothing of it is served any more. */
  async close(): Promise<void> {
    this.#stopListening();
    await this.source.close();
  }

  /** For the admin pages, with further findings. `refused`: it cannot be served as new settings name it, for these. */
  status(further: readonly Finding[], refused: readonly Finding[]): SourceStatus {
    const { findings: own, state } = this.#status;
    const findings = [...own, ...refused.filter((one) => !own.some((other) => isDeepStrictEqual(one, other)))];
    return {
      ...this.#status,
      state: refused.length > 0 ? "refused" : state,
      findings: [...findings, ...this.#problems, ...this.#dangling.findings(), ...further],
    };
  }

  /** Warns of names in resources that do not exist, each once. */
  checkNames(): void {
    // While files with errors are left out, many names are missing only for that reason. Skipped resources count as
    // missing.
    const isWhole = this.#last?.skipped !== undefined && this.#last.applied;
    if (!isWhole && hasErrors(this.#last?.findings ?? [])) return;
    for (const finding of this.#dangling.update()) logFinding(this.#around.log, finding);
  }

  #kept(source: Source, store: Store, directory: string): KeptSource {
    const { loaded, registry, types, log, server, hasLastGood, history } = this.#around;
    return new KeptSource({
      source,
      store,
      registry,
      types,
      layers: folderLayers(loaded),
      retention: history.now,
      restores: hasLastGood,
      check: server.checkChange,
      served: server.layerSnapshot,
      onRevision: this.#around.onRevision,
      onRolledBack: (rolledBack) => this.#rolledBack(rolledBack),
      describe: () => this.#describe(directory),
      onRestored: (revisions) => this.#restored(revisions),
      onProblem: (findings) => {
        this.#problems = findings.slice(0, 1).map((finding) => ({ ...finding, severity: "warning" }));
        for (const finding of this.#problems) logFinding(log, finding);
      },
    });
  }

  /** While files are left out at the start, what is served is no good configuration. */
  async #describe(directory: string): Promise<CommitInfo | undefined> {
    if (leavesOutFiles(this.#status)) return undefined;
    const time = Date.now();
    const cause = { kind: "files", files: [], commit: await gitCommit(directory) } as const;
    return { author: userName(), cause, message: "", time };
  }

  #restored(revisions: readonly Revision[]): void {
    const [{ id, time } = { id: "", time: 0 }] = [...revisions].sort((a, b) => b.time - a.time);
    const at = new Date(time).toISOString();
    this.#status = { ...this.#status, restored: { revision: id, time: at } };
    this.#around.log.error(
      "folder-restored",
      { revision: id, time: at },
      "the folder has errors: its last good revision is served",
    );
  }

  #rolledBack(rolledBack: readonly RolledBack[]): void {
    const { log, loaded } = this.#around;
    const newest = rolledBack.toSorted((a, b) => b.time - a.time)[0];
    if (newest === undefined) {
      this.#status = { ...this.#status, rolledBack: null };
      log.info("rollback-over", {}, "what the folder has now is served, and no older revision any more");
      return;
    }
    const { revision, to, layer, time } = newest;
    const facts = { revision, to, layer: layerInApi(layer, folderLayers(loaded)), time: new Date(time).toISOString() };
    this.#status = { ...this.#status, rolledBack: facts };
    // Other settings change nothing about it.
    if (this.#around.before?.rolledBackBy === revision) return;
    log.warn("rolled-back", facts, "the folder is rolled back: an older revision is served until the folder changes");
  }

  #read(summary: FolderSummary): void {
    this.#last = summary;
    this.#status = sourceAfter(this.#status, summary, new Date());
    // Where one cannot take the place of another one, who tries it says why.
    const isReported = summary.serving || this.#around.before === undefined;
    const result = isReported ? this.#logReading(summary) : undefined;
    if (result !== undefined) this.#around.noteFiles(filesOf(summary, result), result);
    if (!summary.serving) this.#around.nothingServed(summary.findings);
    this.checkNames();
  }
}

/** The first files of an edit, in the directory. */
function filesOf({ changedFiles, directory, findings }: FolderSummary, result: EditResult): readonly string[] {
  if (result === "done") return changedFiles;
  const wrong = errorsIn(findings).flatMap(({ file }) => (file === undefined ? [] : relative(directory, file)));
  return [...new Set(wrong)].slice(0, maxListed);
}
