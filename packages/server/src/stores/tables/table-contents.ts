import type { StoredResource } from "../../contracts/stores/store.js";
import { contentKey } from "./table-keys.js";
import type { Reader, Writer } from "./tables.js";

/** Whether a content is there. */
export function holdsContent(reader: Reader, { type, key, version }: StoredResource): boolean {
  const content = contentKey(type, key, version);
  // Where a revision has it, nobody must read it.
  return reader.get("references", content) !== undefined || reader.get("contents", content) !== undefined;
}

/** Writes a content that is not there. */
export function putContent(writer: Writer, resource: StoredResource): void {
  if (holdsContent(writer, resource)) return;
  writer.put("contents", contentKey(resource.type, resource.key, resource.version), resource.bytes);
}

/** Counts the references to a content, and removes it with the last one. */
export function refer(writer: Writer, content: string, by: 1 | -1): void {
  const count = (writer.get<number>("references", content) ?? 0) + by;
  if (count > 0) writer.put("references", content, count);
  else {
    writer.remove("references", content);
    writer.remove("contents", content);
  }
}
