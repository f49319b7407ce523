import { Failed } from "../verdicts/verdicts.js";

/** The text of a driver's answer that a message shows. */
const shownAnswer = 200;

/** Reads `{"ok":true}`, perhaps with `"restart":true`. Throws Failed for anything else. */
export function readDriverAnswer(text: string): { readonly canRestart: boolean } {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Failed(`the driver answered no JSON: ${text.slice(0, shownAnswer)}`);
  }
  const { ok, restart, error } = (answer ?? {}) as {
    readonly ok?: unknown;
    readonly restart?: unknown;
    error?: unknown;
  };
  if (ok !== true) throw new Failed(`the driver could not do it: ${String(error ?? text).slice(0, shownAnswer)}`);
  return { canRestart: restart === true };
}
