import type { JsonObject } from "@bufbuild/protobuf";
import { XdskitError } from "../errors/errors.js";
import { detached, type FileReading } from "../reading/file-reading.js";
import { makeResource, type Resource } from "../resources/resource.js";
import type { Wrapping } from "../resources/wrapping.js";
import { isDoubt } from "./doubt.js";
import { Encoding } from "./encoding.js";
import { type Kinds, kindsOf } from "./kinds.js";

/** The parts of a file's reading that are needed here. */
type CompiledReading = Pick<FileReading, "registry" | "types" | "views">;

/** A resource, and the name of its type. */
export interface Made {
  readonly resource: Resource;
  readonly type: string;
}

/** Nothing in it outlives the reading of a file, so one serves all. */
const encoding = new Encoding();

/**
 * Makes resources from the JSON of one file in one pass: reads, checks and encodes without ever making a message. It
 * leaves everything that is wrong or rare to `readJsonMessage`, `checkMessage` and `createResource`. For everything
 * else its result is identical to theirs.
 */
export class CompiledResources {
  private readonly reading: CompiledReading;
  private readonly kinds: Kinds;

  constructor(reading: CompiledReading) {
    this.reading = reading;
    this.kinds = kindsOf(reading.types)(reading.registry);
  }

  /** Makes the resource of an object with `"@type"`. Undefined means that the explaining readers must read it. */
  read(item: JsonObject, url: string, wrapping: Wrapping): Made | undefined {
    const kind = this.kinds.of(url);
    if (kind === undefined || wrapping.problem !== undefined) return undefined;
    const { nameField, writer } = kind;
    const own = item[nameField.name] ?? item[nameField.jsonName];
    if (typeof own !== "string" || own === "") return undefined;
    // A wrapper with another name needs a warning.
    if (wrapping.name !== undefined && wrapping.name !== own) return undefined;
    try {
      encoding.start();
      writer.writeTyped(encoding, item);
      const made = makeResource(kind.type, own, wrapping, () => ({ body: encoding.body(), references: references() }));
      return { resource: this.reading.views ? detached(made) : made, type: kind.shown };
    } catch (error) {
      if (isDoubt(error) || error instanceof XdskitError) return undefined;
      throw error;
    }
  }

  /** Call it after the last object of a file: it releases the memory that the file's values keep alive. */
  end(): void {
    encoding.forget();
  }
}

/** The references that were written last. A copy is exactly as long as needed; a growing list reserves more. */
function references(): Resource["references"] {
  const { references } = encoding;
  return references.length === 0 ? none : references.slice();
}

const none: Resource["references"] = Object.freeze([]);
