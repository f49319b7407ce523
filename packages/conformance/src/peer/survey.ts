import { Failed } from "../verdicts/verdicts.js";
import { unimplemented } from "../wire/call-stream.js";
import type { ProtocolVariant } from "../wire/messages.js";
import type { XdsStream } from "../wire/xds-stream.js";
import { FoundNames, findContent } from "./found-names.js";
import { type PeerOptions, ServerPeer } from "./peer.js";

/** What a server offers and has. */
export type Survey = Pick<PeerOptions, "offered" | "content">;

/**
 * Looks at a server before the checks begin. Throws Failed if no variant answers: then there is nothing to check.
 */
export async function surveyServer(options: Omit<PeerOptions, keyof Survey>): Promise<Survey> {
  const offered = new Set<ProtocolVariant>();
  const problems: string[] = [];
  let content: FoundNames | undefined;
  for (const variant of ["sotw", "delta"] as const) {
    const peer = new ServerPeer({ ...options, content: new FoundNames(new Map()), offered: new Set([variant]) });
    let last: XdsStream | undefined;
    const open = () => {
      last = peer.open(variant);
      return last;
    };
    try {
      const found = await findContent({ open, bounds: options.bounds });
      content ??= found;
      offered.add(variant);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (last?.end?.code !== unimplemented) offered.add(variant);
      problems.push(`${variant}: ${error.message}`);
    } finally {
      peer.close();
    }
  }
  if (content !== undefined) return { offered, content };
  throw new Failed(
    `the server at ${options.target.address} answers neither SotW nor delta ADS. ${problems.join("; ")}`,
  );
}
