import { type Finding, XdskitError } from "@xdskit/api";
import type { SourceTrouble } from "../contracts/node-status.js";
import type { RolledBack } from "../contracts/source.js";

/** Follows which sources have a newest content that is not served. */
export class SourceTroubles {
  readonly #troubles = new Map<string, SourceTrouble>();
  readonly #rolledBack = new Map<string, readonly SourceTrouble[]>();

  /** What was found in a source's newest content: without errors it is served. */
  found(source: string, findings: readonly Finding[]): void {
    const [first, ...others] = findings.filter(({ severity }) => severity === "error");
    if (first === undefined) this.#troubles.delete(source);
    else this.#troubles.set(source, { source, kind: "errors", message: new XdskitError([first, ...others]).message });
  }

  /** These layers of a source, and no others, serve an older revision. */
  rolledBack(source: string, layers: readonly RolledBack[]): void {
    const told = layers.map(({ to, time }): SourceTrouble => {
      const since = new Date(time).toISOString();
      return { source, kind: "rolled-back", message: `revision ${to} is served since ${since}, after a rollback` };
    });
    this.#rolledBack.set(source, told);
  }

  /** Errors first, in the order in which they began. */
  all(): readonly SourceTrouble[] {
    return [...this.#troubles.values(), ...[...this.#rolledBack.values()].flat()];
  }
}
