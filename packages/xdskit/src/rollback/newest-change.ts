import { listNames } from "@xdskit/api";
import type { ApiClient } from "../api-client/api-client.js";
import { ApiError } from "../api-client/api-error.js";
import type { RevisionJson } from "../api-client/api-types.js";

/** The newest change that can be taken back. */
export interface NewestChange {
  readonly layer: string;
  readonly head: RevisionJson;
  /** Other layers whose newest change can be taken back, too. */
  readonly others: readonly string[];
}

/** The newest change of a layer, or of all layers. Rejects with an ApiError if there is none that can be taken back. */
export async function newestChange(client: ApiClient, layer: string | undefined): Promise<NewestChange> {
  const { layers } = await client.get("/api/v1/layers");
  const asked = layers.filter(({ name }) => layer === undefined || name === layer);
  if (layer !== undefined && asked.length === 0)
    throw new ApiError(`there is no layer "${layer}": known are ${listNames(layers.map(({ name }) => name))}`);
  const begun = asked.flatMap(({ head, name, writable }) => (head === null ? [] : [{ head, name, writable }]));
  const none = layer === undefined ? "no layer has" : `layer "${layer}" has not`;
  if (begun.length === 0) throw new ApiError(`${none} a revision yet`);
  // A layer of the API was empty before its first revision; what a folder had before its own is not known.
  const found = begun.filter(({ head, writable }) => writable || head.parent !== null);
  const [newest, ...others] = found.toSorted((a, b) => (a.head.time < b.head.time ? 1 : -1));
  if (newest === undefined) throw new ApiError(`${none} anything from before its newest revision`);
  return { layer: newest.name, head: newest.head, others: others.map(({ name }) => name) };
}
