import type { Trouble } from "@xdskit/admin";
import { printable } from "@xdskit/api";
import type { WrongSettings } from "./settings-watch.js";

/** The errors of an edited settings file, each with its place. */
export function settingsTroubles(wrong: WrongSettings | undefined): readonly Trouble[] {
  const title = "The settings file has errors: those in use stay, and a restart would fail";
  return (wrong?.findings ?? []).map(({ severity, field, message, file, line, column }): Trouble => {
    const where = file === undefined ? undefined : { file, line, column };
    const text = printable(field === undefined ? message : `${field}: ${message}`);
    return { kind: "settings", severity, title, message: text, since: wrong?.since ?? 0, where };
  });
}
