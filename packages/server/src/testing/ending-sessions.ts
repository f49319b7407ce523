import type { SharedKeys, SharedSession } from "../contracts/stores/shared-keys.js";
import { withMethods } from "./with-methods.js";

/** A test can close the session first, and tell its holder later. */
export interface EndingSession {
  readonly session: SharedSession;
  lost(): void;
}

/** Shared keys, and the sessions that were opened there. */
export function endingSessions(shared: SharedKeys): { readonly shared: SharedKeys; readonly opened: EndingSession[] } {
  const opened: EndingSession[] = [];
  const session: SharedKeys["session"] = async (options) => {
    const kept = await shared.session(options);
    opened.push({ session: kept, lost: options.lost });
    return kept;
  };
  return { shared: withMethods(shared, { session }), opened };
}
