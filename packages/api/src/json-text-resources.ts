import { CompiledResources } from "./compiled/compiled-resources.js";
import { isDoubt } from "./compiled/doubt.js";
import { JsonBytes } from "./compiled/json-bytes.js";
import type { Where } from "./errors.js";
import type { FileReading, PositionedResource } from "./file-reading.js";
import { decodeText, type FileText } from "./file-text.js";
import { documentOf } from "./json-parts.js";
import { NoList } from "./list-parts.js";
import type { Resource } from "./resource.js";
import type { SourceDocument } from "./source-document.js";
import { readSource } from "./source-items.js";

/**
 * Reads a JSON list of resources, or a single one, out of its bytes, without making values of it: `JSON.parse`, and looking through what it made, costs several times
 * what is left. Items that are wrong or unusual in any way become values, and are read by who explains them; only then is there a text as well.
 *
 * @param bytes in ASCII: every character is one byte, and places in both are the same
 * @throws NoList where the text as a whole is to be read otherwise; what was read of it until then does not count
 */
export function readJsonText(reading: FileReading, bytes: Uint8Array): void {
  const src = new JsonBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const compiled = new CompiledResources(reading);
  const isList = src.space() === 0x5b;
  if (isList) {
    src.at += 1;
    // An empty list is so rare that it may be looked at by others.
    src.space();
  }
  try {
    if (takeItems(reading, src, compiled, isList)) return;
    if (!isList) throw new NoList();
    const file = decodeText(bytes);
    if (file.problem !== undefined) throw new NoList();
    readSource(reading, file, { documents: itemsLeft(reading, file, src, compiled), problems: [] }, compiled);
  } catch (error) {
    throw isDoubt(error) ? new NoList() : error;
  } finally {
    compiled.end();
  }
}

/** Takes resources up to one that cannot be taken. Returns whether that was all. */
function takeItems(reading: FileReading, src: JsonBytes, compiled: CompiledResources, isList: boolean): boolean {
  do {
    const { line, column } = src.place();
    const resource = compiled.readText(src);
    if (resource === undefined) return false;
    reading.resources.push(new ReadResource(resource, reading.path, line, column));
  } while (isList && isNextItem(src));
  if (src.space() !== 0 || src.at < src.bytes.length) throw new NoList();
  return true;
}

/** Passes over what stands behind an item of a list. Returns whether another one follows. */
function isNextItem(src: JsonBytes): boolean {
  const code = src.space();
  src.at += 1;
  if (code === 0x5d) return false;
  if (code !== 0x2c) throw new NoList();
  src.space();
  return true;
}

/** The items of a list that cannot be taken, from the next one on, which is such; takes the others. */
function* itemsLeft(
  reading: FileReading,
  file: FileText,
  src: JsonBytes,
  compiled: CompiledResources,
): Generator<SourceDocument> {
  do {
    const start = src.at;
    if (src.bytes[start] !== 0x7b) throw new NoList();
    const keys = src.skipNested();
    yield documentOf(file.text, { from: start, end: src.at, keys, starts: [start] });
    // What takes a list without types takes all of it, and what it holds twice once: also what says its type.
    if (reading.adoptions.length > 0) throw new NoList();
  } while (isNextItem(src) && !takeItems(reading, src, compiled, true));
  if (src.space() !== 0 || src.at < src.bytes.length) throw new NoList();
}

/** A resource of which nothing was wrong. Hardly anybody asks where one of a hundred thousand stands: what says it is made then. */
class ReadResource implements PositionedResource {
  readonly resource: Resource;
  private readonly file: string;
  private readonly line: number;
  private readonly column: number;

  constructor(resource: Resource, file: string, line: number, column: number) {
    this.resource = resource;
    this.file = file;
    this.line = line;
    this.column = column;
  }

  get where(): Where {
    const { file, line, column, resource } = this;
    return { file, line, column, field: undefined, resource: resource.name, type: resource.type.name };
  }
}
