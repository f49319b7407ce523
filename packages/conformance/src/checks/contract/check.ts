import type { ServerPeer } from "../../peer/peer.js";

/**
 * - MUST: the document says must, or nothing else would be the protocol. A failure fails the run.
 * - SHOULD: the document says should or may, or is a proposal, or says nothing and peers rely on it. A failure is
 *   reported.
 * - either: the document is ambiguous, or silent. What the server does is reported.
 */
export type Level = "MUST" | "SHOULD" | "either";

/**
 * `observe` needs a server with whatever content; `drive` needs a driver that changes it; `client` is about clients.
 */
export type Tier = "observe" | "drive" | "client";

/** One sentence that a peer is held against. */
export interface Sentence {
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
}

/** A sentence and how to see whether it holds of a `P`, by default a server. */
export interface Check<P = ServerPeer> extends Sentence {
  /**
   * Plays the check. Returns what was seen, if that is worth a line. Throws Failed or Skipped.
   */
  run(peer: P): Promise<string | undefined>;
}

/** A check without what follows from the list that it stands in. */
export interface CheckBody<P = ServerPeer> {
  readonly id: string;
  readonly says: string;
  readonly because: string;
  readonly link: string;
  readonly level?: Level;
  /** What it resolves to is told, if it is a text. */
  run(peer: P): Promise<unknown>;
}

/** Completes the checks of a list. */
export function checksOf<P = ServerPeer>(
  tier: Tier,
  since: string,
  bodies: readonly CheckBody<P>[],
): readonly Check<P>[] {
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
