import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** A field that holds messages: one, a list of them, or a map with them as values. */
type MessageField = DescField & { readonly message: DescMessage };

/** One field that a walk visits. */
export interface Path<Own> {
  readonly field: MessageField;
  readonly shape: "one" | "list" | "map";
  /** Whether it holds a `google.protobuf.Struct` as plain JSON, not as a message. */
  readonly jsonStruct: boolean;
  /** For the messages that it holds. */
  readonly plan: MessagePlan<Own>;
}

/** What a walk does at a message of one schema. */
export interface MessagePlan<Own> {
  readonly schema: DescMessage;
  readonly own: Own;
  readonly paths: readonly Path<Own>[];
}

/**
 * Plans for walks that look for some messages only. A plan has just the fields that can lead, however deep, to a message that `isTarget` accepts:
 * a cluster with its hundreds of possible fields is then read by looking at a dozen. Made once per schema; `own` is what the walk itself wants
 * to know of a schema.
 */
export function createPlans<Own>(
  isTarget: (schema: DescMessage) => boolean,
  own: (schema: DescMessage) => Own,
): (schema: DescMessage) => MessagePlan<Own> {
  const leads = createReach(isTarget);
  const plans = new WeakMap<DescMessage, MessagePlan<Own>>();
  const planOf = (schema: DescMessage): MessagePlan<Own> => {
    const known = plans.get(schema);
    if (known !== undefined) return known;
    const paths: Path<Own>[] = [];
    const plan = { schema, own: own(schema), paths };
    // Before its fields are looked at: a message may hold messages of its own kind.
    plans.set(schema, plan);
    for (const field of [...schema.fields].sort((a, b) => a.number - b.number)) {
      if (!isMessageField(field) || !leads(field.message)) continue;
      const shape = field.fieldKind === "list" || field.fieldKind === "map" ? field.fieldKind : "one";
      paths.push({ field, shape, jsonStruct: isJsonStruct(field), plan: planOf(field.message) });
    }
    return plan;
  };
  return planOf;
}

/** Whether a message is, or can hold at any depth, a target. */
function createReach(isTarget: (schema: DescMessage) => boolean): (schema: DescMessage) => boolean {
  const known = new WeakMap<DescMessage, boolean>();
  return (start) => {
    const before = known.get(start);
    if (before !== undefined) return before;
    const seen = new Set([start]);
    for (const schema of seen) {
      if (isTarget(schema) || known.get(schema) === true) {
        known.set(start, true);
        return true;
      }
      for (const field of schema.fields) if (isMessageField(field)) seen.add(field.message);
    }
    // Without a target in reach of `start`, there is none in reach of what it reaches.
    for (const schema of seen) known.set(schema, false);
    return false;
  };
}

function isMessageField(field: DescField): field is MessageField {
  return field.message !== undefined;
}

/** Whether a field holds a `google.protobuf.Struct` as plain JSON, not as a message. */
export function isJsonStruct(field: MessageField): boolean {
  return field.message.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value";
}

/** What a field of a message holds, whether it is part of a oneof or not; undefined where it is not set. */
export function fieldValue(message: object, field: DescField): unknown {
  const fields = message as { readonly [name: string]: unknown };
  const { oneof } = field;
  if (oneof === undefined) return fields[field.localName];
  const choice = fields[oneof.localName] as { readonly case?: string; readonly value?: unknown } | undefined;
  return choice?.case === field.localName ? choice.value : undefined;
}

/** A copy of a message in which one field is set. */
export function withField<M extends object>(message: M, field: DescField, value: unknown): M {
  const { oneof, localName } = field;
  const change = oneof === undefined ? { [localName]: value } : { [oneof.localName]: { case: localName, value } };
  // Messages of proto2 have their defaults on the prototype.
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, change);
}
