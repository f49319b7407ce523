import type { Finding, Registry, Resource, ResourceTypes, Where } from "@xdskit/api";
import { createFolderSource, type FolderSummary, type Source, type XdsServer } from "@xdskit/server";
import { pendingSource, type SourceStatus, sourceAfter } from "../admin/source-status.js";
import type { Log } from "../output/log.js";
import { createSourceLog, logFinding } from "../serving/logs/source-log.js";
import { ignoredFiles, type LoadedSettings } from "../settings/load-settings.js";
import { folderSettings, groupNames, groupsOfLayers, whereServed } from "../settings/server-settings.js";
import { createDanglingCheck, type DanglingCheck } from "./dangling-check.js";

/** How the folder is read. */
export interface ServedFolderOptions {
  readonly directory: string;
  /** Milliseconds; undefined: what the settings say. */
  readonly settle?: number;
  readonly allowEmpty: boolean;
  readonly allowPartial: boolean;
}

interface Surroundings {
  readonly server: XdsServer;
  readonly loaded: LoadedSettings;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  readonly log: Log;
  /** Called when a reading found nothing that can be served. */
  readonly nothingServed: () => void;
}

/** The folder of `serve`: brings its resources into the server, and logs and keeps what each reading found. */
export class ServedFolder {
  readonly source: Source;
  readonly #around: Surroundings;
  readonly #dangling: DanglingCheck;
  readonly #logReading: (summary: FolderSummary) => void;
  #status: SourceStatus;
  #last: FolderSummary | undefined;
  #revision = 0;

  constructor(options: ServedFolderOptions, around: Surroundings) {
    const { server, loaded, registry, types, log } = around;
    const { settings } = loaded;
    const { directory, allowEmpty, allowPartial, settle } = options;
    const folder = folderSettings(settings);
    this.#around = around;
    this.source = createFolderSource({
      ...folder,
      directory,
      ignore: ignoredFiles(loaded),
      allowEmpty,
      allowPartial,
      settleMs: settle ?? folder.settleMs,
      read: { registry, types },
      onRead: (summary) => this.#read(summary),
    });
    this.#status = pendingSource(this.source.name, directory);
    this.#logReading = createSourceLog(log, ({ changedLayers }) => ({
      revision: this.#revision,
      groups: groupsOfLayers(settings, changedLayers),
    }));
    this.#dangling = createDanglingCheck({
      groups: groupNames(settings),
      snapshotOf: server.snapshotOf,
      types: server.types,
      whereIs: (group, resource) => this.whereIs(group, resource),
    });
    server.on(
      (event) => {
        if (event.kind === "configuration-applied") this.#revision = event.revision;
      },
      (kind) => kind === "configuration-applied",
    );
  }

  /** How many files there are. */
  get files(): number {
    return this.#last?.files ?? 0;
  }

  /** Where a resource of a group is. */
  whereIs(group: string, resource: Pick<Resource, "type" | "key">): Where | undefined {
    return whereServed(this.#around.loaded.settings, group, (layer) => this.#last?.whereIs(layer, resource));
  }

  /** For the admin pages, with further findings. */
  status(further: readonly Finding[]): SourceStatus {
    return { ...this.#status, findings: [...this.#status.findings, ...this.#dangling.findings(), ...further] };
  }

  /** Warns of names in resources that do not exist, each once. Call it when all groups have a snapshot. */
  checkNames(): void {
    // While files with errors are left out, many names are missing only for that reason. Skipped resources count as
    // missing.
    const isWhole = this.#last?.skipped !== undefined && this.#last.applied;
    if (!isWhole && this.#last?.findings.some(({ severity }) => severity === "error")) return;
    for (const finding of this.#dangling.update()) logFinding(this.#around.log, finding);
  }

  #read(summary: FolderSummary): void {
    this.#last = summary;
    this.#status = sourceAfter(this.#status, summary, new Date());
    this.#logReading(summary);
    if (!summary.serving) this.#around.nothingServed();
    this.checkNames();
  }
}
