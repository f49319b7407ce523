import { CompiledResources } from "./compiled/compiled-resources.js";
import { isDoubt } from "./compiled/doubt.js";
import { JsonBytes } from "./compiled/json-bytes.js";
import type { FileReading } from "./file-reading.js";
import type { FileText } from "./file-text.js";
import { documentOf } from "./json-parts.js";
import { NoList } from "./list-parts.js";
import type { SourceDocument } from "./source-document.js";
import { readSource } from "./source-items.js";

/**
 * Reads a JSON list of resources, or a single one, out of its text, without making values of it: `JSON.parse`, and looking through what it made, costs several times
 * what is left. Items that are wrong or unusual in any way become values, and are read by who explains them.
 *
 * @throws NoList where the text as a whole is to be read otherwise; what was read of it until then does not count
 */
export function readJsonText(reading: FileReading, file: FileText, bytes: Uint8Array): void {
  // Every character is one byte, and places in both are the same.
  if (file.text.length !== bytes.length) throw new NoList();
  const src = new JsonBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const compiled = new CompiledResources(reading);
  const documents = itemsLeft(reading, file, src, compiled);
  try {
    readSource(reading, file, { documents, problems: [] }, compiled);
  } catch (error) {
    throw isDoubt(error) ? new NoList() : error;
  }
}

/** Takes resources; what is no resource that can be taken, it passes on. */
function* itemsLeft(
  reading: FileReading,
  file: FileText,
  src: JsonBytes,
  compiled: CompiledResources,
): Generator<SourceDocument> {
  const isList = src.space() === 0x5b;
  if (isList) {
    src.at += 1;
    // An empty list is so rare that it may be looked at by others.
    src.space();
  }
  for (;;) {
    const start = src.at;
    const { line, column } = src.place();
    const made = compiled.readText(src);
    if (made !== undefined) {
      const { resource, type } = made;
      const where = { file: reading.path, line, column, field: undefined, resource: resource.name, type };
      reading.resources.push({ resource, where });
    } else if (isList && src.bytes[start] === 0x7b) {
      const keys = src.skipNested();
      yield documentOf(file.text, { from: start, end: src.at, keys, starts: [start] });
    } else {
      throw new NoList();
    }
    const code = src.space();
    if (!isList) break;
    src.at += 1;
    if (code === 0x5d) break;
    if (code !== 0x2c) throw new NoList();
    src.space();
  }
  if (src.space() !== 0 || src.at < src.bytes.length) throw new NoList();
}
