import type { Snapshot, TypeStatus } from "@xdskit/protocol";
import type { LayerName } from "../source.js";
import type { NodeStreamInfo } from "../stream-info.js";

/** A stream, as the ledger and arrivals look at it. Nothing is kept of what it answers. */
export interface LedgerStream {
  /** Undefined before its node is known. */
  readonly opened: NodeStreamInfo | undefined;
  /** Milliseconds since 1970. */
  readonly openedAt: number;
  /** The layers of its group; undefined is all that there are. */
  readonly layers: readonly LayerName[] | undefined;
  /** What its client is to have now; undefined while nothing is known. */
  readonly snapshot: Snapshot | undefined;
  /** What its group is to have in the end. */
  readonly newest: Snapshot | undefined;
  /** Its client acknowledged all that it is to have now. */
  readonly isSettled: boolean;
  /** Since when it is not settled; milliseconds of the server's clock. */
  readonly unsettledSince: number;
  /** `unknownStatus` while that cannot be said. */
  status(): readonly TypeStatus[];
}

/** The thread of a stream is too busy to say how it stands: this very list, and no other that is empty. */
export const unknownStatus: readonly TypeStatus[] = [];

/** A stream of which the node is known, and that is not over. */
export type OpenStream = LedgerStream & { readonly opened: NodeStreamInfo };

export function isOpen(stream: LedgerStream): stream is OpenStream {
  return stream.opened !== undefined;
}
