import { type DescMessage, fromBinary, type Message, type Registry } from "@bufbuild/protobuf";
import { toText } from "@bufbuild/protobuf/txtpb";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { typeNameOf } from "../any.js";
import { childrenOf, hasUnknownFields, messageFields } from "./unknown-fields.js";

/**
 * A message in protobuf's text format. Its readers know no field by its number, but an `Any` may be bytes in it: so the content of one that has unknown fields is written, and of others of
 * its type in the message. Fields that the message itself does not know are shown by their numbers, and cannot be read again.
 */
export function writeText(schema: DescMessage, message: Message, registry: Registry): string {
  const asBytes = new Set<string>();
  collect(schema, message, registry, asBytes, 0);
  const known = asBytes.size === 0 ? registry : without(registry, asBytes);
  return toText(schema, message, { registry: known, printUnknownFields: true });
}

const depthLimit = 32;

/** The types of the `Any`s whose content text cannot hold otherwise. */
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
    if (depth >= depthLimit || hasUnknownFields(schema, content)) types.add(typeName);
    else if (schema.typeName === AnySchema.typeName) collectInAny(content as Any, registry, types, depth + 1);
    else collect(schema, content, registry, types, depth + 1);
  } catch {
    types.add(typeName);
  }
}

function without(registry: Registry, types: ReadonlySet<string>): Registry {
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
