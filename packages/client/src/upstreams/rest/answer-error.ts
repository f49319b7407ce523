import { type ResourceType, redactErrorText, XdskitError } from "@xdskit/api";
import type { HttpAnswer } from "./poster.js";

/** The part of a body that is shown. */
const shownCharacters = 200;
/** A longer body may hide secrets: only complete JSON can be searched for them. */
const searchedBytes = 64 * 1024;

/** An answer that cannot be used. */
export interface AnswerProblem {
  readonly type: ResourceType;
  readonly path: string;
  readonly answer: HttpAnswer;
  /** Undefined if the status says why. */
  readonly message?: string | undefined;
  /** Hides the secrets that the client itself sends. */
  readonly withoutSecrets: (text: string) => string;
}

/** Describes an answer that is not a response: its status and its first words, without secrets. */
export function answerError({ type, path, answer, message, withoutSecrets }: AnswerProblem): XdskitError {
  const { status, statusText, body } = answer;
  const what =
    message ?? `it was answered with ${`${status} ${withoutSecrets(statusText)}`.trim()}${redirection(answer)}`;
  // JSON with status 200 is a response with resources; the error says where it is wrong.
  const isShown = status !== 200 || !/^\s*[{[]/.test(body.toString("latin1", 0, 100));
  const words = isShown ? wordsIn(body, type) : undefined;
  const reported = words === undefined ? "" : `: ${withoutSecrets(words)}`;
  return XdskitError.of("XDSKIT_POLL_FAILED", `POST ${path}: ${what}${reported}`, { type: type.name });
}

function redirection({ status, headers }: HttpAnswer): string {
  return status >= 300 && status < 400 && headers.location !== undefined ? ", and redirects are not followed" : "";
}

/** The first words of a body, on one line; for a problem document (RFC 9457) its text. */
function wordsIn(body: Buffer, type: ResourceType): string | undefined {
  if (body.length === 0) return undefined;
  const isWhole = body.length <= searchedBytes;
  const text = body.toString("utf8", 0, searchedBytes);
  const detail = isWhole ? detailIn(text) : undefined;
  if (detail !== undefined) return shortened(redactErrorText(detail));
  const isJson = isWhole && isJsonText(text);
  // Text with braces that is not JSON may be part of a configuration, with secrets that cannot be found.
  const words = shortened(isJson ? redactErrorText(text) : redactErrorText(text.split(/[{[]/, 1)[0] ?? ""));
  // The answer of a server of secrets may itself be a secret.
  return type.name === "secret" || words === "" ? `${body.length} bytes` : JSON.stringify(words);
}

function detailIn(text: string): string | undefined {
  try {
    const { detail, message } = JSON.parse(text) as { readonly detail?: unknown; readonly message?: unknown };
    return [detail, message].find((one): one is string => typeof one === "string" && one !== "");
  } catch {
    return undefined;
  }
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function shortened(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= shownCharacters ? line : `${line.slice(0, shownCharacters)}…`;
}
