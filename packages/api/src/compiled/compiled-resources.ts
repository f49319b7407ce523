import type { DescField, JsonObject, Registry } from "@bufbuild/protobuf";
import { XdskitError } from "../errors.js";
import { typeUrlPrefix } from "../identifiers.js";
import { makeResource, type Resource } from "../resource.js";
import type { ResourceType, ResourceTypes } from "../resource-types/resource-type.js";
import type { Wrapping } from "../wrapping.js";
import { BodySlabs } from "./body-slabs.js";
import { isDoubt } from "./doubt.js";
import { Encoding } from "./encoding.js";
import { type MessageWriter, writersOf } from "./message-writer.js";

/** One type's resources. */
interface Kind {
  readonly type: ResourceType;
  readonly nameField: DescField;
  readonly writer: MessageWriter;
}

/** Nothing of it outlives a call: one is enough for all. */
const encoding = new Encoding();

/**
 * Makes resources of the JSON of one file in one pass: reads, checks and writes a message without ever making it. What is wrong in any way, and what is rare, it
 * leaves to `readJsonMessage`, `checkMessage` and `createResource`; what it takes, it makes of it just what they do.
 */
export class CompiledResources {
  private readonly registry: Registry;
  private readonly types: ResourceTypes;
  private readonly kinds = new Map<string, Kind | undefined>();
  private readonly slabs = new BodySlabs();

  constructor(registry: Registry, types: ResourceTypes) {
    this.registry = registry;
    this.types = types;
  }

  /** The resource that an object with `"@type"` is. Undefined: somebody else is to read it. */
  read(item: JsonObject, url: string, wrapping: Wrapping): Resource | undefined {
    if (wrapping.problem !== undefined) return undefined;
    const kind = this.kindOf(url);
    if (kind === undefined) return undefined;
    const { type, nameField, writer } = kind;
    const own = item[nameField.name] ?? item[nameField.jsonName];
    if (typeof own !== "string" || own === "") return undefined;
    // Of a wrapper that names it otherwise, somebody is to be warned.
    if (wrapping.name !== undefined && wrapping.name !== own) return undefined;
    try {
      encoding.start();
      writer.writeTyped(encoding, item);
      const { references } = encoding;
      const content = { body: this.slabs.take(encoding), references: references.length === 0 ? none : references };
      return makeResource(type, own, wrapping, () => content);
    } catch (error) {
      if (isDoubt(error) || error instanceof XdskitError) return undefined;
      throw error;
    }
  }

  private kindOf(url: string): Kind | undefined {
    if (this.kinds.has(url)) return this.kinds.get(url);
    const kind = this.findKind(url);
    // A file may have many URLs that are no type's.
    if (kind !== undefined) this.kinds.set(url, kind);
    return kind;
  }

  private findKind(url: string): Kind | undefined {
    const writer = writersOf(this.registry).byUrl(url);
    if (writer === undefined) return undefined;
    const { schema } = writer;
    const type = this.types.byTypeUrl(`${typeUrlPrefix}${schema.typeName}`)?.type;
    const nameField = schema.fields.find(({ localName }) => localName === type?.nameField);
    return type === undefined || nameField === undefined ? undefined : { type, nameField, writer };
  }
}

const none: Resource["references"] = Object.freeze([]);
