import type { DescField, JsonObject } from "@bufbuild/protobuf";
import { XdskitError } from "../errors.js";
import { detached, type FileReading, shownType } from "../file-reading.js";
import { typeUrlPrefix } from "../identifiers.js";
import { makeResource, type Resource } from "../resource.js";
import type { ResourceType } from "../resource-types/resource-type.js";
import type { Wrapping } from "../wrapping.js";
import { BodySlabs } from "./body-slabs.js";
import { isDoubt } from "./doubt.js";
import { Encoding } from "./encoding.js";
import type { JsonBytes } from "./json-bytes.js";
import type { ReadMessage } from "./message-reader.js";
import { type MessageWriter, writersOf } from "./message-writer.js";
import { readersOf } from "./readers.js";

/** What is asked of the reading of a file. */
type Reading = Pick<FileReading, "registry" | "types" | "views">;

/** One type's resources. */
interface Kind {
  readonly type: ResourceType;
  readonly nameField: DescField;
  /** As a place in a file calls it. */
  readonly shown: string;
  readonly writer: MessageWriter;
  /** Out of a text; undefined where only its JSON can be read. */
  readonly read: ReadMessage | undefined;
  /** How its last object began, up to its type. */
  head: Uint8Array | undefined;
  headLines: number;
}

/** A resource, and how its type is called. */
export interface Made {
  readonly resource: Resource;
  readonly type: string;
}

/** Of how many types objects may come in turn. */
const mostLately = 4;
const longestHead = 256;

/** Nothing of it outlives the reading of a file: one is enough for all. */
const encoding = new Encoding();

/**
 * Makes resources of the JSON of one file in one pass: reads, checks and writes a message without ever making it. What is wrong in any way, and what is rare, it
 * leaves to `readJsonMessage`, `checkMessage` and `createResource`; what it takes, it makes of it just what they do.
 */
export class CompiledResources {
  private readonly reading: Reading;
  private readonly kinds = new Map<string, Kind>();
  private readonly slabs = new BodySlabs();
  /** Those of which objects came last, the very last one first. */
  private lately: Kind[] = [];

  constructor(reading: Reading) {
    this.reading = reading;
  }

  /** The resource that an object with `"@type"` is, and how its type is called. Undefined: somebody else is to read it. */
  read(item: JsonObject, url: string, wrapping: Wrapping): Made | undefined {
    const kind = this.kindOf(url);
    if (kind === undefined || wrapping.problem !== undefined) return undefined;
    const { nameField, writer } = kind;
    const own = item[nameField.name] ?? item[nameField.jsonName];
    if (typeof own !== "string" || own === "") return undefined;
    // Of a wrapper that names it otherwise, somebody is to be warned.
    if (wrapping.name !== undefined && wrapping.name !== own) return undefined;
    try {
      encoding.start();
      writer.writeTyped(encoding, item);
      return this.make(kind, own, wrapping);
    } catch (error) {
      if (isDoubt(error) || error instanceof XdskitError) return undefined;
      throw error;
    }
  }

  /**
   * The same, of an object that comes next in a text and says its type first; what was read of the text is behind it then.
   * Undefined: somebody else is to read it, from where it begins.
   */
  readText(src: JsonBytes): Made | undefined {
    const { at, lines } = src;
    let made: Made | undefined;
    try {
      const kind = this.kindNext(src);
      src.goBack(at, lines);
      if (kind?.read === undefined) return undefined;
      encoding.start();
      encoding.repeats = true;
      const found = kind.read(encoding, src);
      encoding.eachOnce();
      const { nameField } = kind;
      made = this.make(kind, found[nameField.name] ?? found[nameField.jsonName], bare);
    } catch (error) {
      if (!isDoubt(error) && !(error instanceof XdskitError)) throw error;
    }
    if (made === undefined) src.goBack(at, lines);
    return made;
  }

  /** After the last object of a file: nothing of what it holds is kept. */
  end(): void {
    encoding.forget();
  }

  /** Of what was written last. */
  private make({ type, shown }: Kind, own: unknown, wrapping: Wrapping): Made | undefined {
    if (typeof own !== "string" || own === "") return undefined;
    const { references } = encoding;
    // A copy is as long as it must be; to what is pushed, room for many is added.
    const content = {
      body: this.slabs.take(encoding),
      references: references.length === 0 ? none : references.slice(),
    };
    const made = makeResource(type, own, wrapping, () => content);
    return { resource: this.reading.views ? detached(made) : made, type: shown };
  }

  /** What kind of object comes next. */
  private kindNext(src: JsonBytes): Kind | undefined {
    const { lately } = this;
    for (const kind of lately) if (kind.head !== undefined && src.passes(kind.head, kind.headLines)) return kind;
    const { at: start, lines: before } = src;
    if (src.bytes[start] !== 0x7b) return undefined;
    src.at += 1;
    src.space();
    if (src.text() !== "@type" || src.space() !== 0x3a) return undefined;
    src.at += 1;
    src.space();
    const kind = this.kindOf(src.text());
    if (kind === undefined) return undefined;
    if (src.at - start <= longestHead) {
      kind.head = src.since(start);
      kind.headLines = src.lines - before;
    }
    this.lately = [kind, ...lately.filter((one) => one !== kind)].slice(0, mostLately);
    return kind;
  }

  private kindOf(url: string): Kind | undefined {
    const known = this.kinds.get(url);
    if (known !== undefined) return known;
    const kind = this.findKind(url);
    // A file may have many URLs that are no type's.
    if (kind !== undefined) this.kinds.set(url, kind);
    return kind;
  }

  private findKind(url: string): Kind | undefined {
    const writer = writersOf(this.reading.registry).byUrl(url);
    if (writer === undefined) return undefined;
    const { schema } = writer;
    const type = this.reading.types.byTypeUrl(`${typeUrlPrefix}${schema.typeName}`)?.type;
    const nameField = schema.fields.find(({ localName }) => localName === type?.nameField);
    return type === undefined || nameField === undefined
      ? undefined
      : {
          type,
          nameField,
          writer,
          shown: shownType(this.reading, url),
          read: readersOf(this.reading.registry).typed(schema, nameField),
          head: undefined,
          headLines: 0,
        };
  }
}

const none: Resource["references"] = Object.freeze([]);
const bare: Wrapping = {};
