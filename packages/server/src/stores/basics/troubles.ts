import type { Finding } from "@xdskit/api";
import { noteIn } from "../../basics/note-in.js";
import { withoutNumbers } from "./store-finding.js";

/** Reports each problem once, until it is over: one does not hide another one. */
export class Troubles {
  readonly #report: (finding: Finding | undefined) => void;
  readonly #reported = new Set<string>();

  /** `report`: undefined says that all is well again. */
  constructor(report: (finding: Finding | undefined) => void) {
    this.#report = report;
  }

  tell(finding: Finding): void {
    if (noteIn(this.#reported, withoutNumbers(finding))) this.#report(finding);
  }

  over(): void {
    if (this.#reported.size === 0) return;
    this.#reported.clear();
    this.#report(undefined);
  }
}
