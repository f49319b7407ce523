import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** A field that holds messages: one, a list of them, or a map with them as values. */
export type MessageField = DescField & { readonly message: DescMessage };

/** One field that a walk visits. */
export interface WalkPath<Own> {
  readonly field: MessageField;
  readonly shape: "one" | "list" | "map";
  /** Whether it holds a `google.protobuf.Struct` as plain JSON, not as a message. */
  readonly jsonStruct: boolean;
  /** For the messages in it. */
  readonly plan: WalkPlan<Own>;
}

/** The work of a walk at messages of one schema. */
export interface WalkPlan<Own> {
  readonly schema: DescMessage;
  readonly own: Own;
  readonly paths: readonly WalkPath<Own>[];
}

/**
 * Plans for walks that look for some messages only. A plan has only the fields that lead, at any depth, to a message
 * that `isTarget` accepts: of a cluster's hundreds of fields a walk then visits a dozen. Plans are made once per
 * schema. `own` makes the walk's own data about a schema.
 */
export function createPlans<Own>(
  isTarget: (schema: DescMessage) => boolean,
  own: (schema: DescMessage) => Own,
): (schema: DescMessage) => WalkPlan<Own> {
  const leads = createReach(isTarget);
  const plans = new WeakMap<DescMessage, WalkPlan<Own>>();
  const planOf = (schema: DescMessage): WalkPlan<Own> => {
    const known = plans.get(schema);
    if (known !== undefined) return known;
    const paths: WalkPath<Own>[] = [];
    const plan = { schema, own: own(schema), paths };
    // Stored before its fields are visited: a message may contain its own type.
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

/** Whether a message is a target, or can contain one at any depth. */
export function createReach(isTarget: (schema: DescMessage) => boolean): (schema: DescMessage) => boolean {
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
    // If `start` reaches no target, neither does anything that it reaches.
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

/** The value of a field, in a oneof or not; undefined if it is not set. */
export function fieldValue(message: object, field: DescField): unknown {
  const fields = message as { readonly [name: string]: unknown };
  const { oneof } = field;
  if (oneof === undefined) return fields[field.localName];
  const choice = fields[oneof.localName] as { readonly case?: string; readonly value?: unknown } | undefined;
  return choice?.case === field.localName ? choice.value : undefined;
}

/** A copy of a message with one field set. */
export function withField<M extends object>(message: M, field: DescField, value: unknown): M {
  const { oneof, localName } = field;
  const change = oneof === undefined ? { [localName]: value } : { [oneof.localName]: { case: localName, value } };
  // Messages of proto2 have their defaults on the prototype.
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, change);
}
