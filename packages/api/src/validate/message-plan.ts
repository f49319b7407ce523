import { type DescField, type DescMessage, getOption, hasOption, type Registry } from "@bufbuild/protobuf";
import { createReach, type MessageField } from "../messages/walk-plan.js";
import { perObject } from "../names/per-object.js";
import { compileField, type FieldCheck, type FieldRules } from "./field-check.js";
import { refusalRules } from "./refused/rules.js";
import { isSpecial } from "./special-checks.js";

/** A oneof that needs a member. */
export interface RequiredOneof {
  readonly localName: string;
  readonly members: readonly string[];
}

/** The checks of messages of one type. Compiled once, without anything that has no rule. */
export interface MessagePlan {
  readonly oneofs: readonly RequiredOneof[];
  readonly checks: readonly FieldCheck[];
  /** Fields that lead, at any depth, to a message with rules. */
  readonly nested: readonly MessageField[];
}

const nothing: MessagePlan = { oneofs: [], checks: [], nested: [] };

/** The rules of a message itself, without nested messages. */
export type OwnRules = Pick<MessagePlan, "oneofs" | "checks">;

/** The plans of the messages of one registry. */
export interface Plans {
  (schema: DescMessage): MessagePlan;
  readonly own: (schema: DescMessage) => OwnRules;
}

/** The plans of a registry. They are made on first use, and live as long as the registry. */
export const plansOf = perObject(createCheckPlans);

function createCheckPlans(registry: Registry): Plans {
  const rulesOption = registry.getExtension("validate.rules");
  const requiredOption = registry.getExtension("validate.required");
  const disabledOptions = ["validate.disabled", "validate.ignored"].map((name) => registry.getExtension(name));
  const isDisabled = (schema: DescMessage) =>
    disabledOptions.some(
      (option) => option !== undefined && hasOption(schema, option) && getOption(schema, option) === true,
    );
  const ownRules = perObject((schema: DescMessage): OwnRules => {
    if (isDisabled(schema)) return nothing;
    const oneofs = schema.oneofs
      .filter(
        (oneof) =>
          requiredOption !== undefined && hasOption(oneof, requiredOption) && getOption(oneof, requiredOption) === true,
      )
      .map((oneof) => ({ localName: oneof.localName, members: oneof.fields.map(({ name }) => name) }));
    const checks = schema.fields
      .flatMap((field) =>
        rulesOption !== undefined && hasOption(field, rulesOption)
          ? [compileField(field, getOption(field, rulesOption) as unknown as FieldRules)]
          : [],
      )
      .filter(
        ({ required, whole, items, keys, skip }) =>
          skip || [required, whole, items, keys].some((part) => part !== undefined),
      );
    return { oneofs, checks };
  });

  const leadsToRules = createReach((schema) => {
    if (isSpecial(schema.typeName) || refusalRules(schema.typeName, true).length > 0) return true;
    const { oneofs, checks } = ownRules(schema);
    return oneofs.length > 0 || checks.length > 0;
  });
  const planOf = perObject((schema: DescMessage): MessagePlan => {
    const { oneofs, checks } = ownRules(schema);
    const skipped = new Set(checks.filter(({ skip }) => skip).map(({ field }) => field.number));
    const nested = isDisabled(schema)
      ? []
      : schema.fields
          .filter(holdsMessages)
          .filter((field) => leadsToRules(field.message) && !skipped.has(field.number));
    return { oneofs, checks, nested };
  });
  return Object.assign(planOf, { own: ownRules });
}

/** A `Struct` field is plain JSON in memory, and has no rules. */
function holdsMessages(field: DescField): field is MessageField {
  return field.message !== undefined && field.message.typeName !== "google.protobuf.Struct";
}
