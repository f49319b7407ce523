import { createUnpack } from "../messages/any.js";
import { type TypeUrl, typeUrlPrefix } from "../names/identifiers.js";
import { referencesOf } from "../references/references.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import { nameless, textIn } from "./own-names.js";
import type { ResourceType, ResourceTypes } from "./resource-type.js";
import { lookedUp, resourceTypes } from "./resource-types.js";

/** The parts of a type that are not functions. */
type PackedType = Omit<ResourceType, "schema" | "nameOf" | "references">;

/** A table of types that can be sent to another thread. Built-in types are sent as URLs. */
export interface PackedTypes {
  readonly rows: readonly (TypeUrl | PackedType)[];
  /**
   * This loses only a program's own functions that find names in messages. Code that passes resources on does not need
   * them.
   */
  readonly isWhole: boolean;
}

/** Undefined for the built-in table. */
export function packTypes(types: ResourceTypes | undefined): PackedTypes | undefined {
  if (types === undefined || types === resourceTypes) return undefined;
  let isWhole = true;
  const rows = types.all.map((type) => {
    if (resourceTypes.byTypeUrl(type.typeUrl)?.type === type) return type.typeUrl;
    if (type.nameField === undefined && type.nameOf !== nameless) isWhole = false;
    const { schema: _, nameOf: __, references: ___, ...packed } = type;
    return packed;
  });
  return { rows, isWhole };
}

/** Restores a packed table. `registry` has the messages of its types. */
export function unpackTypes(packed: PackedTypes | undefined, registry: Registry = envoyRegistry()): ResourceTypes {
  if (packed === undefined) return resourceTypes;
  return lookedUp(
    packed.rows.map((row) => {
      const builtIn = typeof row === "string" ? resourceTypes.byTypeUrl(row)?.type : undefined;
      if (builtIn !== undefined) return builtIn;
      if (typeof row === "string") throw new Error(`${row} is no built-in type`);
      const typeName = row.typeUrl.slice(typeUrlPrefix.length);
      return {
        ...row,
        get schema() {
          return registry.getMessage(typeName);
        },
        nameOf: row.nameField === undefined ? nameless : textIn(row.nameField),
        references: (message, unpack = createUnpack(registry)) => {
          const schema = registry.getMessage(typeName);
          return schema === undefined ? [] : referencesOf(schema, message, unpack);
        },
      };
    }),
  );
}
