import type {
  CommitInfo,
  CommitResult,
  LayerCommit,
  Revision,
  StoredChange,
  StoredKey,
  StoredResource,
  StoredVersion,
} from "../../contracts/stores/store.js";
import { leasesAfter, timeAfter } from "./kept-revisions.js";
import { putContent, refer } from "./table-contents.js";
import { contentKey, hashOf, numberKey, resourceHash, revisionId } from "./table-keys.js";
import { headOf } from "./table-reading.js";
import type { Reader, Writer } from "./tables.js";

/** One entry of `index` and what a commit makes of it. */
interface IndexChange extends StoredChange {
  readonly entry: string;
  /** Undefined where the resource goes. */
  readonly resource: StoredResource | undefined;
}

/** The most changes of a revision in one value. */
const changesInPart = 500;
/**
 * Makes a commit within one transaction. `ahead`: its mark, if its contents have been written ahead of it. Throws,
 * before it has written anything that stays, what the `bytes` of a resource throw.
 */
export function commitLayers(
  writer: Writer,
  layers: readonly LayerCommit[],
  info: CommitInfo,
  ahead: string | undefined,
): CommitResult {
  const conflict = layers.find(({ layer, parent }) => writer.get("heads", hashOf(layer)) !== parent);
  if (conflict !== undefined) {
    const { layer } = conflict;
    // What was written ahead of it is cleared up when the store is opened: another commit may need it until then.
    return { kind: "conflict", layer, head: headOf(writer, hashOf(layer)) };
  }
  const befores = layers.map(({ layer }) => headOf(writer, hashOf(layer)));
  const said = { ...info, time: timeAfter(befores, info.time) };
  const heads = layers.map((one, index) => commitLayer(writer, one, befores[index], causedBy(one, said)));
  if (ahead !== undefined) writer.remove("meta", ahead);
  return { kind: "committed", heads };
}

/** What a commit says of one of its layers. */
export function causedBy({ cause }: LayerCommit, info: CommitInfo): CommitInfo {
  return cause === undefined ? info : { ...info, cause };
}

function commitLayer(
  writer: Writer,
  commit: LayerCommit,
  before: Revision | undefined,
  info: CommitInfo,
): Revision | undefined {
  const { layer, parent, always = false } = commit;
  const layerHash = hashOf(layer);
  const differences = differencesOf(writer, layerHash, commit);
  if (differences.length === 0 && before !== undefined && !always) return before;
  const changes: StoredChange[] = [];
  for (const { entry, resource, type, key, from, to } of differences) {
    changes.push({ type, key, from, to });
    // The reference from `index` to the content of before becomes one from `changes`.
    if (resource === undefined) writer.remove("index", entry);
    else {
      putContent(writer, resource);
      writer.put("index", entry, { type, key, version: resource.version } satisfies StoredVersion);
      refer(writer, contentKey(type, key, resource.version), 1);
    }
  }
  const number = (before?.number ?? 0) + 1;
  const removed = changes.filter(({ to }) => to === undefined).length;
  const counts = { upserted: changes.length - removed, removed, ...leasesAfter(before, info.cause) };
  const described = { layer, parent, number, ...info, ...counts };
  const revision: Revision = { id: revisionId(JSON.stringify([described, changes])), ...described };
  writer.put("revisions", revision.id, revision);
  writer.put("history", layerHash + numberKey(number), revision.id);
  writer.put("heads", layerHash, revision.id);
  for (let at = 0; at < changes.length; at += changesInPart)
    writer.put("changes", revision.id + numberKey(at), changes.slice(at, at + changesInPart));
  return revision;
}

function differencesOf(reader: Reader, layerHash: string, commit: LayerCommit): readonly IndexChange[] {
  const differences = new Map<string, IndexChange>();
  const note = ({ type, key }: StoredKey, resource?: StoredResource): string => {
    const entry = layerHash + resourceHash(type, key);
    const from = reader.get<StoredVersion>("index", entry)?.version;
    const to = resource?.version;
    if (from === to) differences.delete(entry);
    else differences.set(entry, { entry, resource, type, key, from, to });
    return entry;
  };
  for (const one of commit.remove ?? []) note(one);
  // What one commit both removes and puts in is there afterwards.
  const put = new Set(commit.upsert.map((one) => note(one, one)));
  if (commit.kind === "patch") return [...differences.values()];
  for (const [entry, { type, key, version }] of reader.range<StoredVersion>("index", layerHash)) {
    if (put.has(entry)) continue;
    differences.set(entry, { entry, resource: undefined, type, key, from: version, to: undefined });
  }
  return [...differences.values()];
}
