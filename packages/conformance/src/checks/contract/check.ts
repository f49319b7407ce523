import type { Peer } from "../../peer/peer.js";

/**
 * - MUST: the document says must, or nothing else would be the protocol. A failure fails the run.
 * - SHOULD: the document says should, or peers rely on it. A failure is reported.
 * - either: the document is ambiguous, or silent. What the server does is reported.
 */
export type Level = "MUST" | "SHOULD" | "either";

/** `observe` needs a server with whatever content; `drive` needs a driver that changes it. */
export type Tier = "observe" | "drive";

/** One sentence that a server is held against. */
export interface Check {
  /** Never changes its meaning: what it means otherwise has another name. */
  readonly id: string;
  /** The sentence. */
  readonly says: string;
  /** The document's words, or whence the sentence follows. */
  readonly because: string;
  readonly link: string;
  readonly level: Level;
  readonly tier: Tier;
  /** The requirements, by date, that it belongs to from then on. */
  readonly since: string;
  /**
   * Plays the check. Returns what was seen, if that is worth a line. Throws Failed or Skipped.
   */
  run(peer: Peer): Promise<string | undefined>;
}

/** A check without what follows from the list that it stands in. */
export interface CheckBody {
  readonly id: string;
  readonly says: string;
  readonly because: string;
  readonly link: string;
  readonly level?: Level;
  /** What it resolves to is told, if it is a text. */
  run(peer: Peer): Promise<unknown>;
}

/** Completes the checks of a list. */
export function checksOf(tier: Tier, since: string, bodies: readonly CheckBody[]): readonly Check[] {
  return bodies.map((body) => ({
    level: "MUST",
    ...body,
    tier,
    since,
    run: async (peer) => {
      const seen = await body.run(peer);
      return typeof seen === "string" ? seen : undefined;
    },
  }));
}
