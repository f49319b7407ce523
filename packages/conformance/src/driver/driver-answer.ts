import { Failed } from "../verdicts/verdicts.js";
import { type DriverSkill, driverSkills } from "./driver.js";

/** The text of a driver's answer that a message shows. */
const shownAnswer = 200;

/** Reads `{"ok":true}`, perhaps with `"can":["restart"]`. Throws Failed for anything else. */
export function readDriverAnswer(text: string): ReadonlySet<DriverSkill> {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Failed(`the driver answered no JSON: ${text.slice(0, shownAnswer)}`);
  }
  const { ok, can, error } = (answer ?? {}) as { readonly ok?: unknown; readonly can?: unknown; error?: unknown };
  if (ok !== true) throw new Failed(`the driver could not do it: ${String(error ?? text).slice(0, shownAnswer)}`);
  const listed: readonly unknown[] = Array.isArray(can) ? can : [];
  return new Set(driverSkills.filter((skill) => listed.includes(skill)));
}
