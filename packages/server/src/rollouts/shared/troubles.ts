import type { Finding } from "@xdskit/api";
import { withoutNumbers } from "../../stores/basics/store-finding.js";

/** How many different problems are remembered. */
const mostRemembered = 100;

/** Reports each problem once, until it is over: one does not hide another one. */
export class Troubles {
  readonly #report: (finding: Finding | undefined) => void;
  readonly #told = new Set<string>();

  /** `report`: undefined says that all is well again. */
  constructor(report: (finding: Finding | undefined) => void) {
    this.#report = report;
  }

  tell(finding: Finding): void {
    const about = withoutNumbers(finding);
    if (this.#told.has(about)) return;
    const [oldest] = this.#told;
    if (this.#told.size >= mostRemembered && oldest !== undefined) this.#told.delete(oldest);
    this.#told.add(about);
    this.#report(finding);
  }

  over(): void {
    if (this.#told.size === 0) return;
    this.#told.clear();
    this.#report(undefined);
  }
}
