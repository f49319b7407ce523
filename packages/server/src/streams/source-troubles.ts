import { type Finding, XdskitError } from "@xdskit/api";
import type { SourceTrouble } from "../contracts/node-status.js";

/** Follows which sources have a newest content that is not served. */
export class SourceTroubles {
  readonly #troubles = new Map<string, SourceTrouble>();

  /** What was found in a source's newest content: without errors it is served. */
  found(source: string, findings: readonly Finding[]): void {
    const [first, ...others] = findings.filter(({ severity }) => severity === "error");
    if (first === undefined) this.#troubles.delete(source);
    else this.#troubles.set(source, { source, message: new XdskitError([first, ...others]).message });
  }

  /** In the order in which they began. */
  all(): readonly SourceTrouble[] {
    return [...this.#troubles.values()];
  }
}
