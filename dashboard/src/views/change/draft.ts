import { useEffect, useState } from "preact/hooks";
import type { JoinedFiles } from "../../text/joined-files.js";

/** What somebody typed or took from files, before it is sent. */
export interface Draft {
  readonly text: string;
  /** Undefined after a reload, too: then lines are those of the text. */
  readonly files: JoinedFiles | undefined;
  readonly replace: boolean;
}

const key = "xdskit-draft";
/** A browser keeps some megabytes for a page. */
const maxLength = 1_000_000;

/** A draft that a reload of this tab does not lose. It is nowhere else, and goes with the tab. */
export function useDraft() {
  const [draft, change] = useState<Draft>(kept);
  useEffect(() => {
    const { text, replace } = draft;
    if (text === "" || text.length > maxLength) forgetDraft();
    else sessionStorage.setItem(key, JSON.stringify({ text, replace }));
  }, [draft]);
  return [draft, change] as const;
}

/** Once it was applied, or is given up. */
export function forgetDraft(): void {
  sessionStorage.removeItem(key);
}

function kept(): Draft {
  const nothing: Draft = { text: "", files: undefined, replace: false };
  try {
    const { text, replace } = JSON.parse(sessionStorage.getItem(key) ?? "{}") as Partial<Draft>;
    return typeof text === "string" ? { ...nothing, text, replace: replace === true } : nothing;
  } catch {
    return nothing;
  }
}
