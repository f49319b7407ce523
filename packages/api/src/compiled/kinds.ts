import type { DescField, Registry } from "@bufbuild/protobuf";
import { maxKept } from "../errors/limits.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import { perObject } from "../names/per-object.js";
import { copied, shownType } from "../reading/file-reading.js";
import type { ResourceType, ResourceTypes } from "../resource-types/resource-type.js";
import { writersOf } from "./message-writer.js";
import type { MessageWriter } from "./writers.js";

/** The way to make resources of one type. */
export interface Kind {
  readonly type: ResourceType;
  readonly nameField: DescField;
  /** The type's name in findings. */
  readonly shown: string;
  readonly writer: MessageWriter;
}

/** The kind of an object, by its type. */
export interface Kinds {
  /** By type URL. Undefined if its messages cannot be read in one pass. */
  readonly of: (url: string) => Kind | undefined;
}

/** The kinds of resources for these types and messages. They are shared by all files. */
export const kindsOf = perObject((types: ResourceTypes) =>
  perObject((registry: Registry) => createKinds(types, registry)),
);

function createKinds(types: ResourceTypes, registry: Registry): Kinds {
  const byUrl = new Map<string, Kind>();

  function find(url: string): Kind | undefined {
    const writer = writersOf(registry).byUrl(url);
    if (writer === undefined) return undefined;
    const { schema } = writer;
    const type = types.byTypeUrl(`${typeUrlPrefix}${schema.typeName}`)?.type;
    const nameField = schema.fields.find(({ localName }) => localName === type?.nameField);
    if (type === undefined || nameField === undefined) return undefined;
    return { type, nameField, writer, shown: shownType({ types }, url) };
  }

  function of(url: string): Kind | undefined {
    const kind = byUrl.get(url);
    if (kind !== undefined) return kind;
    // A URL from YAML is a view of its file's text.
    const own = copied(url);
    const found = find(own);
    if (found === undefined) return undefined;
    // Files may spell type URLs in many ways.
    if (byUrl.size >= maxKept) byUrl.clear();
    byUrl.set(own, found);
    return found;
  }

  return { of };
}
