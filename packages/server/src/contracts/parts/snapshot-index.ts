import type { Snapshot } from "@xdskit/protocol";

/**
 * Something that a part knows of a snapshot, such as who names whom. The server keeps one for each list of layers, and
 * makes it when it is first asked for. Each `update` takes the next snapshot of a lineage, and must cost the change.
 */
export interface SnapshotIndex {
  update(next: Snapshot): void;
}

/** Makes an empty index. The function itself is the key under which the server keeps the index. */
export type MakeIndex<Index extends SnapshotIndex> = () => Index;
