import type { JsonObject } from "@bufbuild/protobuf";
import { XdskitError } from "../errors.js";
import { detached, type FileReading } from "../file-reading.js";
import { makeResource, plainResource, type Resource } from "../resource.js";
import { mustHoldNumbers } from "../validate/refused/fast.js";
import type { Wrapping } from "../wrapping.js";
import { type BodyMemory, BodySlabs } from "./body-slabs.js";
import { giveUp, isDoubt } from "./doubt.js";
import { Encoding } from "./encoding.js";
import type { JsonBytes } from "./json-bytes.js";
import { type Kinds, kindsOf } from "./kinds.js";

/** What is asked of the reading of a file. */
type Reading = Pick<FileReading, "registry" | "types" | "views" | "bodies">;

/** A resource, and how its type is called. */
export interface Made {
  readonly resource: Resource;
  readonly type: string;
}

/** Nothing of it outlives the reading of a file: one is enough for all. */
const encoding = new Encoding();

/**
 * Makes resources of the JSON of one file in one pass: reads, checks and writes a message without ever making it. What is wrong in any way, and what is rare, it
 * leaves to `readJsonMessage`, `checkMessage` and `createResource`; what it takes, it makes of it just what they do.
 */
export class CompiledResources {
  private readonly reading: Reading;
  private readonly kinds: Kinds;
  private readonly slabs: BodyMemory;

  constructor(reading: Reading) {
    this.reading = reading;
    this.kinds = kindsOf(reading);
    this.slabs = reading.bodies ?? new BodySlabs();
  }

  /** The resource that an object with `"@type"` is, and how its type is called. Undefined: somebody else is to read it. */
  read(item: JsonObject, url: string, wrapping: Wrapping): Made | undefined {
    const kind = this.kinds.of(url);
    if (kind === undefined || wrapping.problem !== undefined) return undefined;
    const { nameField, writer } = kind;
    const own = item[nameField.name] ?? item[nameField.jsonName];
    if (typeof own !== "string" || own === "") return undefined;
    // Of a wrapper that names it otherwise, somebody is to be warned.
    if (wrapping.name !== undefined && wrapping.name !== own) return undefined;
    try {
      encoding.start();
      writer.writeTyped(encoding, item);
      if (encoding.hosts > 0 && mustHoldNumbers(writer.schema.typeName, item)) return undefined;
      const made = makeResource(kind.type, own, wrapping, () => ({ body: this.body(), references: references() }));
      return { resource: this.reading.views ? detached(made) : made, type: kind.shown };
    } catch (error) {
      if (isDoubt(error) || error instanceof XdskitError) return undefined;
      throw error;
    }
  }

  /**
   * The same, of an object that comes next in a text and says its type first; what was read of the text is behind it then.
   * Undefined: somebody else is to read it, from where it begins.
   */
  readText(src: JsonBytes): Resource | undefined {
    const { at, lines } = src;
    let made: Resource | undefined;
    try {
      const kind = this.kinds.next(src);
      src.goBack(at, lines);
      if (kind?.templates === undefined) return undefined;
      const found = kind.templates.read(encoding, src);
      encoding.eachOnce();
      const { nameField, type } = kind;
      if (encoding.hosts > 0 && mustHoldNumbers(kind.writer.schema.typeName, found)) giveUp();
      const name = found[nameField.name] ?? found[nameField.jsonName];
      if (typeof name === "string" && name !== "") {
        const resource = plainResource(type, name, this.body(), references());
        made = this.reading.views ? detached(resource) : resource;
      }
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

  /** What was written last. */
  private body(): Uint8Array {
    return this.slabs.take(encoding);
  }
}

/** Those of what was written last. A copy is as long as it must be; to what is pushed, room for many is added. */
function references(): Resource["references"] {
  const { references } = encoding;
  return references.length === 0 ? none : references.slice();
}

const none: Resource["references"] = Object.freeze([]);
