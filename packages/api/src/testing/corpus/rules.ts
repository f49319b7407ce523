import { type DescField, getOption, hasOption, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { Registry } from "../../registry/registry.js";
import { compileField, type FieldRules } from "../../validate/field-check.js";
import type { ValueCheck } from "../../validate/values/value-check.js";

/**
 * The rules of the protos for one value, such as `{ string: { min_len: "1" } }`; those of lists and maps contain the
 * rules of their items.
 */
export interface Rules {
  /** `string`, `uint32`, `repeated`, …; undefined where only the message has rules. */
  readonly kind: string | undefined;
  readonly set: JsonObject;
  readonly required: boolean;
  /** Whether the rules skip the messages in it. */
  readonly skip: boolean;
}

/** The rules of fields in one registry. */
export interface RuleBook {
  of(field: DescField): Rules;
  /** Whether one value keeps the rules of the field, or of its items. */
  keeps(field: DescField, where: "whole" | "items" | "keys", value: unknown): boolean;
  /** Whether one member of the oneof must be set. */
  requires(oneof: DescField["oneof"]): boolean;
}

const none: Rules = { kind: undefined, set: {}, required: false, skip: false };

/** Reads the rules of one registry. */
export function createRuleBook(registry: Registry): RuleBook {
  const option = registry.getExtension("validate.rules");
  const oneofOption = registry.getExtension("validate.required");
  const rulesType = registry.getMessage("validate.FieldRules");
  if (option === undefined || oneofOption === undefined || rulesType === undefined) throw new Error("no rules");
  const known = new Map<DescField, Rules>();
  const checks = new Map<DescField, ReturnType<typeof compileField> | undefined>();

  function checksOf(field: DescField): ReturnType<typeof compileField> | undefined {
    if (!checks.has(field)) {
      const has = option !== undefined && hasOption(field, option);
      checks.set(field, has ? compileField(field, getOption(field, option) as unknown as FieldRules) : undefined);
    }
    return checks.get(field);
  }

  return {
    of(field) {
      let rules = known.get(field);
      if (rules === undefined) {
        rules = hasOption(field, option)
          ? rulesIn(
              toJson(rulesType, getOption(field, option) as never, { registry, useProtoFieldName: true }) as JsonObject,
            )
          : none;
        known.set(field, rules);
      }
      return rules;
    },
    keeps(field, where, value) {
      const check: ValueCheck | undefined = checksOf(field)?.[where];
      return check?.(value) === undefined;
    },
    requires: (oneof) => oneof !== undefined && hasOption(oneof, oneofOption) && getOption(oneof, oneofOption) === true,
  };
}

/** The rules in the JSON of a `FieldRules`; also for those of items, keys and values. */
export function rulesIn(json: JsonValue | undefined): Rules {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return none;
  const { message, ...kinds } = json;
  const [kind] = Object.keys(kinds);
  const set = (kind === undefined ? {} : kinds[kind]) as JsonObject;
  const ofMessage = (message ?? {}) as JsonObject;
  return { kind, set, required: ofMessage.required === true || set.required === true, skip: ofMessage.skip === true };
}
