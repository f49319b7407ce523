import { ApiError, pathOf, post } from "../../api/request.js";
import type { ChangeAnswer, FindingJson, LayerJson } from "../../api/types.js";
import { changeBody } from "../../text/change-body.js";
import type { JoinedFiles } from "../../text/joined-files.js";

/** How a change is sent. */
export interface SendChange {
  readonly replace: boolean;
  readonly dryRun: boolean;
  readonly message?: string;
  readonly author?: string;
  /** The revision that the layer has; null: it has none. */
  readonly head: string | null;
}

/** Sends a change, or asks what it would do. */
export async function sendChange(layer: LayerJson, text: string, options: SendChange): Promise<ChangeAnswer> {
  const { body, contentType } = changeBody(text);
  const { replace, dryRun, message = "", author = "", head } = options;
  const query = new URLSearchParams({ fields: "proto", replace: String(replace), dryRun: String(dryRun) });
  if (message !== "") query.set("message", message);
  if (author !== "") query.set("author", author);
  const path = `layers/${pathOf(layer.name)}/changes?${query}`;
  return post<ChangeAnswer>(path, body, { contentType, ifMatch: head });
}

/** The places of findings as they are in what was typed, or in the files that were taken. */
export function placed(error: Error, text: string, files: JoinedFiles | undefined): Error {
  if (!(error instanceof ApiError)) return error;
  return new ApiError(error.status, error.message, placedFindings(error.findings, text, files));
}

/** The same for findings alone. */
export function placedFindings(
  findings: readonly FindingJson[],
  text: string,
  files: JoinedFiles | undefined,
): readonly FindingJson[] {
  const { lines, columns } = changeBody(text);
  return findings.map((finding) => {
    const { file, line, column } = finding;
    if (file !== "body" || line === undefined) return finding;
    const own = line - lines;
    const shifted = column === undefined ? {} : { column: Math.max(1, column - columns) };
    // Once somebody edits the text, its lines are no longer those of the files.
    const place = files?.text === text ? files.placeOf(own) : undefined;
    return { ...finding, ...(place ?? { file: "line", line: own }), ...shifted };
  });
}
