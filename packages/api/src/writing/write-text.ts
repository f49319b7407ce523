import { type DescMessage, fromBinary, type Message, type Registry } from "@bufbuild/protobuf";
import { toText } from "@bufbuild/protobuf/txtpb";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { anyDepth } from "../messages/depths.js";
import { typeNameOf } from "../names/identifiers.js";
import { childrenOf, hasUnknownFields, messageFields } from "../unknown/unknown-fields.js";

/**
 * A message in protobuf's text format. Its readers do not accept field numbers, but an `Any` may be bytes. So content
 * with unknown fields, and other content of the same types, is written as bytes. Unknown fields of the message itself
 * are shown by number, and cannot be read back.
 */
export function writeText(schema: DescMessage, message: Message, registry: Registry): string {
  const asBytes = new Set<string>();
  collect(schema, message, registry, asBytes, 0);
  const known = asBytes.size === 0 ? registry : registryWithout(registry, asBytes);
  return toText(schema, message, { registry: known, printUnknownFields: true });
}

/** The types of `Any`s whose content must be written as bytes. */
function collect(schema: DescMessage, message: Message, registry: Registry, types: Set<string>, depth: number): void {
  for (const field of messageFields(schema)) {
    for (const { message: child } of childrenOf(message, field)) {
      if (field.message.typeName === AnySchema.typeName) collectInAny(child as Any, registry, types, depth);
      else collect(field.message, child, registry, types, depth);
    }
  }
}

function collectInAny({ typeUrl, value }: Any, registry: Registry, types: Set<string>, depth: number): void {
  const typeName = typeNameOf(typeUrl);
  const schema = registry.getMessage(typeName);
  if (schema === undefined || types.has(typeName)) return;
  try {
    const content = fromBinary(schema, value);
    if (depth >= anyDepth || hasUnknownFields(schema, content)) types.add(typeName);
    else if (schema.typeName === AnySchema.typeName) collectInAny(content as Any, registry, types, depth + 1);
    else collect(schema, content, registry, types, depth + 1);
  } catch {
    types.add(typeName);
  }
}

function registryWithout(registry: Registry, types: ReadonlySet<string>): Registry {
  return {
    kind: "registry",
    [Symbol.iterator]: () => registry[Symbol.iterator](),
    get: (name) => registry.get(name),
    getMessage: (name) => (types.has(name) ? undefined : registry.getMessage(name)),
    getEnum: (name) => registry.getEnum(name),
    getExtension: (name) => registry.getExtension(name),
    getExtensionFor: (message, no) => registry.getExtensionFor(message, no),
    getService: (name) => registry.getService(name),
  };
}
