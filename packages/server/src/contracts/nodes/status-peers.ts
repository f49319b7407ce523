import type { SourceTrouble } from "./node-status.js";

/** Asks a server of the same store for a page of its clients' status. */
export interface ClientStatusAsked {
  /** The `ClientStatusRequest`, as base64. */
  readonly request: string;
  /** The last id of the page before. */
  readonly after: string;
}

/** What a server says of its own clients; fields of `ClientConfig`, as base64. */
export interface ClientStatusPage {
  /** By id. */
  readonly nodes: readonly { readonly id: string; readonly node: string; readonly entries: string }[];
  readonly hasMore: boolean;
  readonly troubles: readonly SourceTrouble[];
}

/** Another server of the same store, as client status (CSDS) asks it. */
export interface StatusPeer {
  /** For people. */
  readonly name: string;
  /** What `XdsServer.clientStatusPage` says there. Rejects, with a reason for people, where it does not answer. */
  ask(asked: ClientStatusAsked): Promise<ClientStatusPage>;
}
