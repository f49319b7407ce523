import { skippedText } from "@xdskit/admin/listener";
import { type Log, logFinding } from "@xdskit/admin/log";
import { errorsIn, type Finding, findingText } from "@xdskit/api";
import type { AdoptedFile, FolderSummary } from "@xdskit/server";
import { counted } from "../../output/counts.js";
import { adoptedText } from "../../output/messages/adopted.js";

/** The revision of a change, and the groups that have it. */
export type About = (summary: FolderSummary) => Readonly<Record<string, unknown>>;

/**
 * Logs the result of each read of the folder: the changes, or everything that prevented them. A read with the same
 * result is no news. While old errors hold back a new edit, one line says how many there are, and the first one: the
 * author of the edit may have edited another file. A change is one line, with the first of its resources and files.
 * `hasLastGood`: where a start finds errors, a revision is served. The returned function says what became of an edit;
 * undefined: there was none, or it is the start.
 */
export function createSourceLog(
  log: Log,
  about: About = () => ({}),
  hasLastGood = false,
): (summary: FolderSummary) => "done" | "failed" | undefined {
  let reported = "[]";
  let isStart = true;
  let wrong = false;
  const logAdopted = createAdoptedLog(log);
  return (summary) => {
    const { findings, applied, serving, upserted, removed, files, read, parsed, durationMs } = summary;
    const text = JSON.stringify(findings);
    const news = text !== reported;
    reported = text;
    if (news) {
      for (const finding of findings) logFinding(log, finding);
    }
    if (applied) logAdopted(summary.adopted);
    const before = wrong;
    const errors = errorsIn(findings);
    wrong = errors.length > 0;
    const fields = { upserted, removed, files, read, ms: Math.round(durationMs) };
    const said = serving ? kept : hasLastGood ? restoring : nothingServed;
    if (!applied && (news || parsed === 0)) log[news ? "error" : "debug"]("folder-refused", fields, said);
    else if (!applied) log.error("folder-refused", { errors: errors.length, first: firstOf(errors), ...fields }, said);
    else if (upserted + removed === 0 && before && !wrong)
      log.info("folder-valid-again", fields, "all files are valid again");
    else if (upserted + removed === 0) log.debug("folder-unchanged", fields, "nothing changed");
    else
      log.info(
        "configuration-applied",
        { ...about(summary), ...changeFields(summary), ...fields },
        `configuration applied: ${counted(upserted, "resource")} added or changed, ${removed} removed`,
      );
    if (applied && wrong && news) {
      const { skipped } = summary;
      const text = skipped === undefined ? inPart : (skippedText(skipped) ?? "what has errors is skipped");
      log.warn("files-left-out", { errors: errors.length, ...(skipped && { skipped }) }, text);
    }
    const wasStart = isStart;
    isStart = false;
    if (wasStart) return undefined;
    if (applied && upserted + removed > 0) return "done";
    return (wrong && news) || (!applied && parsed > 0) ? "failed" : undefined;
  };
}

/** Logs the resources taken from files of another form: a line for each file, and again when they change. */
function createAdoptedLog(log: Log): (files: readonly AdoptedFile[]) => void {
  let reported: ReadonlySet<string> = new Set();
  return (files) => {
    const texts = new Map(files.map((file) => [adoptedText(file), file]));
    for (const [text, adopted] of texts) if (!reported.has(text)) log.info("files-adopted", { adopted }, text);
    reported = new Set(texts.keys());
  };
}

/** The changed names and files. */
function changeFields({ changed, changedFiles }: FolderSummary): Readonly<Record<string, unknown>> {
  return {
    ...(changed.upserted.length > 0 ? { changed: changed.upserted } : {}),
    ...(changed.removed.length > 0 ? { gone: changed.removed } : {}),
    from: changedFiles,
  };
}

function firstOf([first]: readonly Finding[]): string {
  return first === undefined ? "" : findingText(first);
}

const inPart = "files with errors are left out, and no change is applied until these errors are fixed";
const kept = "change refused: the last good configuration stays";
const restoring = "the folder is not served until these errors are fixed, but its last good revision";
const nothingServed =
  "nothing is served until these errors are fixed: the ports for clients stay closed (--allow-partial serves the files without errors)";
