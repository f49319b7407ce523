import { type ResourceType, redactErrorText, XdskitError } from "@xdskit/api";
import type { HttpAnswer } from "./poster.js";

/** What is shown of a body. */
const shownCharacters = 200;
/** Of what is longer it cannot be said whether it holds secrets: only whole JSON is searched for them. */
const searchedBytes = 64 * 1024;

/** Why an answer is of no use. */
export interface AnswerProblem {
  readonly type: ResourceType;
  readonly path: string;
  readonly answer: HttpAnswer;
  /** Undefined: its status says it. */
  readonly message?: string | undefined;
  /** Hides what the client itself sends in secret. */
  readonly withoutSecrets: (text: string) => string;
}

/** Says what a server answered in the place of a response: its status and its first words, without secrets. */
export function answerError({ type, path, answer, message, withoutSecrets }: AnswerProblem): XdskitError {
  const { status, statusText, body } = answer;
  const what =
    message ?? `it was answered with ${`${status} ${withoutSecrets(statusText)}`.trim()}${redirection(answer)}`;
  // JSON with status 200 is a response, and holds resources: the message says where it is wrong.
  const isShown = status !== 200 || !/^\s*[{[]/.test(body.toString("latin1", 0, 100));
  const words = isShown ? wordsIn(body, type) : undefined;
  const told = words === undefined ? "" : `: ${withoutSecrets(words)}`;
  return XdskitError.of("XDSKIT_POLL_FAILED", `POST ${path}: ${what}${told}`, { type: type.name });
}

function redirection({ status, headers }: HttpAnswer): string {
  return status >= 300 && status < 400 && headers.location !== undefined ? ", and redirections are not followed" : "";
}

/** The first words of a body, on one line; of a problem (RFC 9457) what it says. */
function wordsIn(body: Buffer, type: ResourceType): string | undefined {
  if (body.length === 0) return undefined;
  const isWhole = body.length <= searchedBytes;
  const text = body.toString("utf8", 0, searchedBytes);
  const detail = isWhole ? detailIn(text) : undefined;
  if (detail !== undefined) return shortened(redactErrorText(detail));
  const isJson = isWhole && isJsonText(text);
  // What is no JSON and has braces may be the rest of a configuration, in which nobody can tell what is secret.
  const words = shortened(isJson ? redactErrorText(text) : redactErrorText(text.split(/[{[]/, 1)[0] ?? ""));
  // Whatever a server of secrets says may be one.
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
