import type { KeptSourceOptions } from "./kept-options.js";

/** Keeps what an earlier process served and did not keep. */
export async function keepLeft({ ahead, store, source, layers }: KeptSourceOptions): Promise<void> {
  for (const { layer, time, upsert, remove } of (await ahead?.left()) ?? []) {
    const head = await store.head(layer);
    // Without a head nothing of the layer was ever kept, and a rollback came after it.
    if (head === undefined || head.cause.kind === "rollback" || !layers.includes(layer)) continue;
    const commit = { layer, kind: "patch", parent: head.id, upsert, remove } as const;
    const cause = { kind: "source", source: source.name } as const;
    await store.commit([commit], { author: head.author, cause, message: "", time });
  }
  ahead?.clear();
}
