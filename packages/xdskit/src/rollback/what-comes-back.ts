import { printable } from "@xdskit/api";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";

/** Says on standard error where the source of a layer still holds what was taken back: it would bring it back. */
export async function sayWhatComesBack(client: ApiClient, layer: string, terminal: Terminal): Promise<void> {
  try {
    const { sources } = await client.get("/api/v1/sources");
    const names = sources.flatMap(({ name, rolledBack }) => (rolledBack?.layer === layer ? [name] : []));
    // Several servers may read the same.
    for (const name of new Set(names)) {
      const text = `${printable(name)} still holds what was taken back: its next change brings it back, so undo it there`;
      tell(terminal, `${paintOf(terminal, "err")("warning", text)}\n`, "err");
    }
  } catch (error) {
    // Who may operate need not be one who may read; the rollback is made.
    if (!(error instanceof ApiError)) throw error;
  }
}
