import type { Finding, Resource } from "@xdskit/api";

/**
 * A named set of resources that groups are built from: a folder, what a program set, what a relay received.
 * A group of nodes names layers; a later one wins over an earlier one by type and name.
 */
export type LayerName = string;

/** How some layers are to change: all of it, or nothing. */
export interface LayerUpdate {
  readonly layer: LayerName;
  /** `replace`: the layer is to hold exactly `upsert`. `patch`: only what is named changes. */
  readonly kind: "replace" | "patch";
  readonly upsert: readonly Resource[];
  /** `name` is a resource's name, which means all variants of it, or the key of one. */
  readonly remove?: readonly { readonly type: Resource["type"]; readonly name: Resource["name"] }[];
}

/** Where a source puts what it has. */
export interface SourceSink {
  /** One atomic change of the configuration, over as many layers as it has; what turns out to be equal is not sent to anybody. */
  apply(updates: readonly LayerUpdate[]): void;
  /** The state of the source as of its last attempt: no findings of severity `error` means that it was applied. */
  report(findings: readonly Finding[]): void;
}

/** Brings resources into a server: a folder, a store, an upstream. */
export interface Source {
  readonly name: string;
  /** Resolves when the first configuration was applied; rejects when there is none to apply. Later changes come through the sink. */
  start(sink: SourceSink): Promise<void>;
  close(): Promise<void>;
}
