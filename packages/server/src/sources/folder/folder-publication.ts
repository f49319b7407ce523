import { errorsIn, type Finding, hasErrors, listNames, messageOf, XdskitError } from "@xdskit/api";
import type { LayerUpdate, SourceSink } from "../../contracts/source.js";
import type { FolderContents } from "./folder-contents.js";
import { boundedFindings, sameFindings } from "./folder-findings.js";
import type { Round } from "./folder-reader.js";
import type { FolderSummary } from "./folder-summary.js";
import type { FullFolderOptions } from "./full-folder-options.js";
import type { FolderJudgement } from "./judgement.js";
import { missingFolders } from "./scanning/missing-folders.js";
import { type ChangeSummary, summaryOf } from "./summary-of-change.js";

/** Decides which of a folder's contents are applied, and reports errors. */
export class FolderPublication {
  readonly #options: FullFolderOptions;
  readonly #contents: FolderContents;
  readonly #sink: SourceSink;
  readonly #closing: AbortSignal;
  /**
   * Folders of layers, and the directory, that existed once. If such a folder is gone, it is missing; any other may not
   * exist yet.
   */
  readonly #seen = new Set<string>();
  /** Whether anything was applied, even if it was empty. */
  #started = false;
  /** Whether nothing is applied until all errors are fixed. */
  #waiting = false;
  /** Whether a configuration with files was applied: the last good one. */
  #serving = false;
  #refused = false;
  /** Whether files with errors were left out of what was applied last. */
  #inPart = false;
  #reported: readonly Finding[] = [];

  constructor(options: FullFolderOptions, contents: FolderContents, sink: SourceSink, closing: AbortSignal) {
    this.#options = options;
    this.#contents = contents;
    this.#sink = sink;
    this.#closing = closing;
  }

  /** Whether anything was applied: until then the errors of the files keep the source from starting. */
  get started(): boolean {
    return this.#started;
  }

  /**
   * Applies a round, or leaves the last good configuration; reports either. Undefined if there was nothing to do.
   * @throws XdskitError the first time, if there is nothing to serve or the sink refuses it
   */
  async publish(round: Round, watchRefused: string | undefined, since: number): Promise<FolderSummary | undefined> {
    const judgement = this.#contents.judge();
    const { findings, refuses } = this.#findings(round, judgement, watchRefused);
    const news = round.isChanged || this.#refused || !this.#started || !sameFindings(findings, this.#reported);
    if (!news && round.read.size === 0) return undefined;
    const leftOut = refuses ? this.#leftOut(round, judgement, findings) : none;
    const outcome = leftOut === undefined ? kept : await this.#apply(leftOut);
    if (outcome.applied) {
      this.#started = true;
      this.#inPart = leftOut !== none;
      this.#serving ||= isUsable(round, judgement);
      for (const path of round.scan.folders.keys()) if (this.#isLayer(path)) this.#seen.add(path);
    }
    this.#refused = outcome.refusal !== undefined;
    this.#reported = this.#bounded([...(outcome.refusal ?? []), ...findings]);
    // For the sink, an error means that the change was refused.
    const isSkipped = outcome.applied && judgement.skipped !== undefined;
    if (news) this.#sink.report(isSkipped ? this.#reported.map(asWarning) : this.#reported, { inPart: this.#inPart });
    return {
      directory: this.#options.directory,
      files: this.#contents.size,
      read: round.read.size,
      parsed: round.parsed,
      applied: outcome.applied,
      serving: this.#started,
      skipped: judgement.skipped,
      ...outcome.change,
      resources: new Map(this.#contents.indexes.map(({ layer, counts }) => [layer, new Map(counts)])),
      whereIs: (layer, resource) => this.#contents.whereIs(layer, resource),
      findings: this.#reported,
      adopted: this.#contents.adopted,
      durationMs: performance.now() - since,
    };
  }

  /**
   * The files that are not applied now, for a folder with errors; undefined if no change is applied, and the last good
   * configuration stays.
   */
  #leftOut(round: Round, judgement: FolderJudgement, findings: readonly Finding[]): ReadonlySet<string> | undefined {
    if (this.#serving) return undefined;
    if (this.#options.allowPartial && isUsable(round, judgement)) return judgement.skipped ? none : judgement.bad;
    // Clients may still have the resources of these files from before a restart: without them they would be removed
    // everywhere.
    this.#waiting ||= this.#options.waits || (round.scan.root !== undefined && judgement.valid > 0);
    if (this.#started || this.#waiting) return undefined;
    if (!this.#options.allowEmpty) throw errorOf(findings);
    return this.#contents.paths;
  }

  async #apply(leftOut: ReadonlySet<string>): Promise<PublicationOutcome> {
    const changes = this.#contents.changes(this.#started ? "patch" : "replace", leftOut);
    const updates = changes.map(([, { update }]) => update).filter(saysSomething);
    if (!this.#started) await this.#sink.prepare?.(updates);
    if (this.#closing.aborted) return kept;
    try {
      // Whoever keeps what the folder had before a restart says that instead.
      if (updates.length > 0) this.#sink.apply(updates, this.#started ? {} : { since: [] });
    } catch (error) {
      this.#waiting ||= this.#options.waits;
      if (!this.#started && !this.#waiting) throw error;
      return { ...kept, refusal: refusalFindings(error) };
    }
    for (const [index, change] of changes) index.commit(change);
    return {
      applied: true,
      change: summaryOf(changes.map(([, change]) => change)),
    };
  }

  /** All errors, and whether they keep the change from being applied. Skipped errors do not. */
  #findings({ scan, whole }: Round, judgement: FolderJudgement, watchRefused: string | undefined) {
    const { directory, allowEmpty } = this.#options;
    const findings: Finding[] = [];
    if (!whole) {
      const message = "it changed again each time while it was read; it will be read again";
      findings.push({ code: "XDSKIT_FOLDER_UNSETTLED", severity: "error", message, file: directory });
    }
    findings.push(...missingFolders(scan.missing, this.#options, this.#seen));
    const read = [...scan.findings, ...judgement.findings];
    const [wrong] = errorsIn(read);
    if (scan.root !== undefined && judgement.valid === 0 && !allowEmpty && !(this.#serving && wrong !== undefined)) {
      const message =
        wrong === undefined
          ? `no file with resources (.yaml, .yml, .json, .pb, .pb_text, .textproto) is in ${this.#whereFilesMayBe()}`
          : "no file is valid";
      findings.push({ code: "XDSKIT_NO_VALID_FILE", severity: "error", message, file: directory });
    }
    if (watchRefused !== undefined) {
      const message = `cannot be watched (${watchRefused}); changes are found by looking every few seconds`;
      findings.push({ code: "XDSKIT_WATCH_UNAVAILABLE", severity: "warning", message, file: directory });
    }
    const refusing = [...findings, ...(judgement.skipped === undefined ? read : scan.findings)];
    return { findings: this.#bounded([...findings, ...read]), refuses: hasErrors(refusing) };
  }

  #bounded(findings: readonly Finding[]): readonly Finding[] {
    return boundedFindings(findings, this.#options.limits.findings);
  }

  /** The folder, or those in it that are layers: other files in it are not read. */
  #whereFilesMayBe(): string {
    const paths = this.#options.layers.map(({ path }) => path);
    if (paths.includes(".")) return "the folder";
    return `its folders ${listNames(paths)}`;
  }

  #isLayer(path: string): boolean {
    return path === "." || this.#options.layers.some((layer) => layer.path === path);
  }
}

/** The outcome of a round. */
interface PublicationOutcome {
  readonly applied: boolean;
  readonly change: ChangeSummary;
  readonly refusal?: readonly Finding[];
}

const kept: PublicationOutcome = { applied: false, change: summaryOf([]) };
const none: ReadonlySet<string> = new Set();

/** Whether there is anything to serve, and all of it belongs to one state. */
function isUsable(round: Round, judgement: FolderJudgement): boolean {
  return round.whole && round.scan.root !== undefined && judgement.valid > 0;
}

function saysSomething({ kind, upsert, remove = [] }: LayerUpdate): boolean {
  return kind === "replace" || upsert.length > 0 || remove.length > 0;
}

function asWarning(finding: Finding): Finding {
  return { ...finding, severity: "warning" };
}

function errorOf(findings: readonly Finding[]): XdskitError {
  const [first, ...more] = errorsIn(findings);
  return first === undefined
    ? XdskitError.of("XDSKIT_NO_VALID_FILE", "nothing to serve")
    : new XdskitError([first, ...more]);
}

function refusalFindings(error: unknown): readonly Finding[] {
  if (error instanceof XdskitError) return error.findings;
  const message = `the change was refused: ${messageOf(error)}`;
  return [{ code: "XDSKIT_CHANGE_REFUSED", severity: "error", message }];
}
