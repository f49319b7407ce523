import type { Registry } from "@xdskit/api";
import type { KeptSource, LayerName, Revision, Store, WrittenLayers, XdsServer } from "@xdskit/server";

/** A layer as the API shows it. */
export interface ApiLayer {
  /** As it stands in paths: the server's name, or another where that cannot stand there. */
  readonly name: string;
  /** Its name in the server. */
  readonly layer: LayerName;
  /** Whether it lies over or under what sources serve; null for a layer of a source. */
  readonly place: "over" | "under" | null;
  /** Whether its revisions survive a restart. */
  readonly durable: boolean;
  /** Where its revisions are; undefined: none are kept. */
  readonly store: Store | undefined;
  /** Who fills it. `written`: the API. `kept`: a source whose revisions are kept, so that it can be rolled back. */
  readonly filled:
    | { readonly by: "api"; readonly written: WrittenLayers }
    | { readonly by: "source"; readonly kept: KeptSource | undefined };
}

/** What the API shows, and acts on. */
export interface AdminApiOptions {
  readonly server: XdsServer;
  readonly registry: Registry;
  /** From the lowest to the highest. */
  readonly layers: readonly ApiLayer[];
  /** Calls a function at each new revision; returns a function that ends it. Undefined: no event tells of revisions. */
  readonly onRevision?: ((listener: (revision: Revision) => void) => () => void) | undefined;
  /** The version of the program, for the OpenAPI document. */
  readonly version: string;
}
