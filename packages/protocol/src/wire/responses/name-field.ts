import { create, type Message } from "@bufbuild/protobuf";
import type { Registry, ResourceName, ResourceType } from "@xdskit/api";
import { schemaOfType } from "@xdskit/api";
import { delimited, type Span, WireReader } from "@xdskit/api/wire";

/**
 * Finds the name in the bytes of a message without reading the rest. Undefined if only the whole message tells it, or
 * has none.
 */
export type NameField = (bytes: Uint8Array, span: Span) => ResourceName | undefined;

/**
 * Asks the type, once, which field holds the names. So of a response with a thousand resources, only the new ones need
 * decoding.
 */
export function nameFieldOf(type: ResourceType, registry: Registry): NameField {
  const tag = tagOfName(type, registry);
  if (tag === undefined) return () => undefined;
  return (bytes, span) => {
    const reader = new WireReader(bytes, span);
    let name: ResourceName | undefined;
    while (!reader.atEnd) {
      const next = reader.tag();
      if (next === tag) name = reader.string();
      else reader.skip(next);
    }
    return name === "" ? undefined : name;
  };
}

const probe = "probe";

function tagOfName(type: ResourceType, registry: Registry): number | undefined {
  const schema = schemaOfType(type, registry);
  for (const field of schema?.fields ?? []) {
    if (schema === undefined || field.fieldKind !== "scalar" || field.oneof !== undefined) continue;
    const message: Message & { [field: string]: unknown } = Object.assign(create(schema));
    if (typeof message[field.localName] !== "string") continue;
    message[field.localName] = probe;
    if (type.nameOf(message) === probe) return delimited(field.number);
  }
  return undefined;
}
