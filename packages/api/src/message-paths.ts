import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** A field that holds messages: one, a list of them, or a map with them as values. */
export type MessageField = DescField & { readonly message: DescMessage };

/**
 * Which fields of a message can lead, however deep, to a message that `isTarget` accepts. Walks visit only these: a cluster with thousands
 * of possible fields is then read by looking at a dozen. Computed once per schema.
 */
export function createPaths(
  isTarget: (schema: DescMessage) => boolean,
): (schema: DescMessage) => readonly MessageField[] {
  const leads = new WeakMap<DescMessage, boolean>();
  const paths = new WeakMap<DescMessage, readonly MessageField[]>();

  function leadsToTarget(start: DescMessage): boolean {
    const known = leads.get(start);
    if (known !== undefined) return known;
    const seen = new Set([start]);
    let found = false;
    for (const schema of seen) {
      found = isTarget(schema) || leads.get(schema) === true;
      if (found) break;
      for (const field of schema.fields) if (isMessageField(field)) seen.add(field.message);
    }
    // Without a target in reach of `start`, there is none in reach of what it reaches.
    if (found) leads.set(start, true);
    else for (const schema of seen) leads.set(schema, false);
    return found;
  }

  return (schema) => {
    let fields = paths.get(schema);
    if (fields === undefined) {
      fields = schema.fields.filter(isMessageField).filter((field) => leadsToTarget(field.message));
      paths.set(schema, fields);
    }
    return fields;
  };
}

export function isMessageField(field: DescField): field is MessageField {
  return field.message !== undefined;
}

/** Whether a field holds a `google.protobuf.Struct` as plain JSON, not as a message. */
export function isJsonStruct(field: MessageField): boolean {
  return field.message.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value";
}

/** What a field of a message holds, whether it is part of a oneof or not; undefined where it is not set. */
export function fieldValue(message: object, field: DescField): unknown {
  const fields = message as { readonly [name: string]: unknown };
  if (field.oneof === undefined) return fields[field.localName];
  const choice = fields[field.oneof.localName] as { readonly case?: string; readonly value?: unknown } | undefined;
  return choice?.case === field.localName ? choice.value : undefined;
}
