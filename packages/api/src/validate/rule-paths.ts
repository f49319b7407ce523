import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** A field that holds messages: one, a list of them, or a map with them as values. */
export type MessageField = DescField & { readonly message: DescMessage };

/**
 * Which fields of a message can lead, however deep, to a message that has something to check. Only these are visited. Computed once per schema.
 */
export function createRulePaths(
  hasRules: (schema: DescMessage) => boolean,
): (schema: DescMessage) => readonly MessageField[] {
  const leads = new WeakMap<DescMessage, boolean>();

  function leadsToRules(start: DescMessage): boolean {
    const known = leads.get(start);
    if (known !== undefined) return known;
    const seen = new Set([start]);
    for (const schema of seen) {
      if (hasRules(schema) || leads.get(schema) === true) {
        leads.set(start, true);
        return true;
      }
      for (const field of schema.fields) if (holdsMessages(field)) seen.add(field.message);
    }
    // Without rules in reach of `start`, there are none in reach of what it reaches.
    for (const schema of seen) leads.set(schema, false);
    return false;
  }

  return (schema) => schema.fields.filter(holdsMessages).filter((field) => leadsToRules(field.message));
}

/** A `Struct` in a field of its own is plain JSON in memory, and has no rules. */
function holdsMessages(field: DescField): field is MessageField {
  return field.message !== undefined && field.message.typeName !== "google.protobuf.Struct";
}

/** What a field of a message holds, whether it is part of a oneof or not; undefined where it is not set. */
export function fieldValue(message: object, field: DescField): unknown {
  const fields = message as { readonly [name: string]: unknown };
  if (field.oneof === undefined) return fields[field.localName];
  const choice = fields[field.oneof.localName] as { readonly case?: string; readonly value?: unknown } | undefined;
  return choice?.case === field.localName ? choice.value : undefined;
}
