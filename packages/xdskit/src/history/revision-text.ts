import { listNames, printable } from "@xdskit/api";
import type { RevisionJson } from "../api-client/api-types.js";
import { shortId } from "../comparison/short-id.js";
import type { Paint } from "../output/colours.js";

const maxFiles = 3;

/** Revisions in lines: what each changed, when, who did it and why. */
export function revisionLines(revisions: readonly RevisionJson[], paint: Paint): string {
  const isOneLayer = new Set(revisions.map(({ layer }) => layer)).size === 1;
  const rows = revisions.map((revision) => {
    const { id, layer, number, time, author } = revision;
    const layerCell = isOneLayer ? [] : [layer];
    return [shortId(id), ...layerCell, `#${number}`, timeText(time), countsText(revision), author, whyText(revision)];
  });
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => printable(row[column] ?? "").length)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const text = printable(cell).padEnd(widths[column] ?? 0);
        return column === 0 ? paint("strong", text) : text;
      })
      .join("  ")
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join("");
}

/** One revision with all that is known of it. */
export function revisionHead(revision: RevisionJson, paint: Paint): string {
  const { id, layer, number, parent, time, author, cause, message } = revision;
  const lines = [
    paint("strong", printable(`revision ${id}`)),
    printable(`layer    ${layer}, #${number}${parent === null ? ", its first" : `, after ${shortId(parent)}`}`),
    printable(`time     ${timeText(time)}`),
    printable(`author   ${author}`),
    printable(`cause    ${causeText(cause, Number.POSITIVE_INFINITY)}`),
    ...(message === "" ? [] : [printable(`message  ${message}`)]),
    `changes  ${countsText(revision)}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** In the time zone of whoever reads it. */
function timeText(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

function countsText({ upserted, removed }: RevisionJson): string {
  return `+${upserted} -${removed}`;
}

function whyText({ cause, message }: RevisionJson): string {
  const why = causeText(cause, maxFiles);
  return message === "" ? why : `${message} (${why})`;
}

function causeText(cause: RevisionJson["cause"], maxNames: number): string {
  switch (cause.kind) {
    case "files": {
      const files = Array.isArray(cause.files) ? cause.files.map(String) : [];
      const names = listNames(files, maxNames);
      const commit = typeof cause.commit === "string" ? ` at ${shortCommit(cause.commit)}` : "";
      return names === "" ? `files${commit}` : `${names}${commit}`;
    }
    case "api":
      return "api";
    case "rollback":
      // Before its first revision a layer had nothing.
      return cause.to === "" ? "rollback to an empty layer" : `rollback to ${shortId(String(cause.to))}`;
    case "source":
      return String(cause.source);
    default:
      return cause.kind;
  }
}

/** What follows the hash of the commit says that the files differ from it. */
function shortCommit(commit: string): string {
  return commit.replace(/^([0-9a-f]{10})[0-9a-f]*/, "$1");
}
