import { type Finding, XdskitError } from "@xdskit/api";
import type { SourceTrouble } from "../contracts/node-status.js";
import type { RolledBack } from "../contracts/source.js";

/** Knows the sources whose newest content is not served. */
export class SourceTroubles {
  readonly #troubles = new Map<string, SourceTrouble>();
  readonly #incomplete = new Map<string, SourceTrouble>();
  readonly #rolledBack = new Map<string, readonly SourceTrouble[]>();

  /** The findings about a source's newest content. It is served if none of them is an error. */
  found(source: string, findings: readonly Finding[]): void {
    const [first, ...others] = findings.filter(({ severity }) => severity === "error");
    if (first === undefined) this.#troubles.delete(source);
    else this.#troubles.set(source, { source, kind: "errors", message: new XdskitError([first, ...others]).message });
  }

  /** The layers of a source that serve an older revision; all others of it do not. */
  rolledBack(source: string, layers: readonly RolledBack[]): void {
    const told = layers.map(({ to, time }): SourceTrouble => {
      const since = new Date(time).toISOString();
      return { source, kind: "rolled-back", message: `revision ${to} is served since ${since}, after a rollback` };
    });
    this.#rolledBack.set(source, told);
  }

  /** From now on, a source lacks something. */
  incomplete(source: string, { message }: Finding): void {
    this.#incomplete.set(source, { source, kind: "incomplete", message });
  }

  /** Errors first, in the order in which they began. */
  all(): readonly SourceTrouble[] {
    return [...this.#troubles.values(), ...this.#incomplete.values(), ...[...this.#rolledBack.values()].flat()];
  }
}
