import type { LayerName, RevisionId, StoredKey } from "@xdskit/server";
import { hashOf, numberKey } from "@xdskit/server/tables";

/** Names a resource within a layer. */
export function resourceId({ type, key }: StoredKey): string {
  return JSON.stringify([type, key]);
}

/** The first key behind all that begin so. */
export function endOf(prefix: string): string {
  return `${prefix}\u007f`;
}

/**
 * The keys of a store, below its prefix:
 *   heads/LAYER                the ID of its head
 *   revisions/ID               the revision, as JSON
 *   history/LAYER/NUMBER       the ID of a revision
 *   changes/ID/PART            what a revision changed, as JSON
 *   checkpoints/ID/PART        all that a layer holds at a revision, as JSON: a head is read from the newest one on.
 *                              It counts once the first part is there, which is written last
 *   contents/CONTENT/PART      bytes, cut to etcd's limit of a request; the last part ends the value
 *   ahead/WRITER               there while a writer writes ahead of its revision
 *   writers/WRITER             the same, for as long as the writer lives
 *   shared/KEY                 what servers share: a random mark of the writing, a line break, and the value
 */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  readonly heads = (layer?: LayerName) => `${this.#prefix}/heads/${layer === undefined ? "" : hashOf(layer)}`;
  readonly revision = (id: RevisionId) => `${this.#prefix}/revisions/${id}`;
  readonly history = (layer: LayerName, number?: number) =>
    `${this.#prefix}/history/${hashOf(layer)}/${number === undefined ? "" : numberKey(number)}`;
  readonly changes = (id: RevisionId, part?: number) =>
    `${this.#prefix}/changes/${id}/${part === undefined ? "" : numberKey(part)}`;
  readonly checkpoint = (id: RevisionId, part?: number) =>
    `${this.#prefix}/checkpoints/${id}/${part === undefined ? "" : numberKey(part)}`;
  readonly content = (content: string, part?: number) =>
    `${this.#prefix}/contents/${content}${part === undefined ? "" : `/${numberKey(part)}`}`;
  readonly contents = () => `${this.#prefix}/contents/`;
  readonly ahead = (writer: string) => `${this.#prefix}/ahead/${writer}`;
  readonly shared = (key = "") => `${this.#prefix}/shared/${key}`;
  readonly writer = (writer: string) => `${this.#prefix}/writers/${writer}`;
}
