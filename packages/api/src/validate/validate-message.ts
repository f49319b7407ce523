import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { createUnpack, schemaOf, typeNameOf, type Unpack } from "../any.js";
import type { Finding } from "../errors.js";
import { type FieldPath, formatFieldPath, stepInto, stepsOf } from "../field-path.js";
import type { FieldProblem } from "../field-problem.js";
import { envoyRegistry, type Registry } from "../registry.js";
import type { FieldCheck } from "./field-check.js";
import { type OwnRules, type Plans, plansOf } from "./message-plan.js";
import { mayBeRefused, refusals } from "./refused/rules.js";
import { fieldValue, type MessageField } from "./rule-paths.js";
import { isOfGrpc, isSpared } from "./spared-fields.js";
import { isSpecial, type SpecialProblem, specialProblems } from "./special-checks.js";
import { isUnchecked } from "./unchecked-messages.js";
import type { Violation } from "./value-check.js";

/** A field that breaks a rule. */
export interface RuleProblem extends FieldProblem {
  readonly severity: Finding["severity"];
  readonly rule?: string | undefined;
}

/** How many problems of one message are worth reading. */
const problemLimit = 100;
/** `Any`s inside `Any`s are followed to this depth. */
const depthLimit = 64;

/** How a message is to be checked. */
export interface ValidateOptions {
  /** Where the content of `Any`s is looked up; Envoy's messages by default. */
  readonly registry?: Registry | undefined;
  /** Whether findings of severity `warning` are wanted as well; by default they are not. */
  readonly warnings?: boolean | undefined;
  /** Whether the rules are checked, and what Envoy refuses besides; default true. Without them only an `Any` of a known type is a finding that cannot be read. */
  readonly rules?: boolean | undefined;
  /** Whether what Envoy refuses by itself is wanted as well, though the protos' rules and gRPC's clients may take it; by default it is not. */
  readonly envoy?: boolean | undefined;
}

/**
 * Checks a message, and all that is in it, by the rules of its proto files (`validate.rules`, with the meaning that protoc-gen-validate gives them),
 * inside every `Any` whose type is known; that regular expressions are RE2's; and a few things that no rule says and that Envoy refuses.
 * Returns what is wrong, at most 100 findings; none for a message whose type the registry lacks.
 */
export function validateMessage(message: Message, options: ValidateOptions = {}): readonly Finding[] {
  const registry = options.registry ?? envoyRegistry();
  const schema = schemaOf(message.$typeName, registry);
  if (schema === undefined) return [];
  const problems = checkMessage(schema, message, registry, undefined, options);
  const wanted = options.warnings === true ? problems : problems.filter(({ severity }) => severity === "error");
  return wanted.map(({ code, severity, message: text, steps, rule }) => {
    return { code, severity, message: text, field: formatFieldPath(steps), type: schema.typeName, rule };
  });
}

/** Which findings are wanted. */
type Asked = Pick<ValidateOptions, "rules" | "envoy">;

/** As `validateMessage`, with the steps to each field. `unpack` saves reading `Any`s again that were read before. */
export function checkMessage(
  schema: DescMessage,
  message: Message,
  registry: Registry,
  unpack: Unpack = createUnpack(registry),
  asked: Asked = {},
): readonly RuleProblem[] {
  const validator = new Validator(registry, unpack, asked);
  validator.message(schema, message, undefined, 0);
  return validator.problems;
}

class Validator {
  readonly problems: RuleProblem[] = [];
  private readonly registry: Registry;
  private readonly unpack: Unpack;
  private readonly plans: Plans;
  private readonly rules: boolean;
  private readonly envoy: boolean;

  constructor(registry: Registry, unpack: Unpack, { rules = true, envoy = false }: Asked) {
    this.registry = registry;
    this.unpack = unpack;
    this.rules = rules;
    this.envoy = rules && envoy;
    this.plans = plansOf(registry);
  }

  message(schema: DescMessage, message: Message, path: FieldPath | undefined, depth: number): void {
    if (isSpecial(schema.typeName)) {
      if (schema.typeName === "google.protobuf.Any") {
        this.any(message as Any, path, depth);
        return;
      }
      if (this.rules) this.special(specialProblems(schema.typeName, message), path);
    }
    if (this.envoy && mayBeRefused(schema.typeName)) {
      const problems = refusals(schema.typeName, message, path === undefined);
      if (problems.length > 0 && !isOfGrpc(path)) this.special(problems, path);
    }
    const plan = this.plans(schema);
    if (this.rules) this.own(plan, message, path);
    for (const field of plan.nested) this.nested(field, message, path, depth + 1);
  }

  private own({ oneofs, checks }: OwnRules, message: Message, path: FieldPath | undefined): void {
    for (const { localName, members } of oneofs) {
      const choice = (message as unknown as { readonly [name: string]: { readonly case?: string } })[localName];
      if (choice?.case === undefined) {
        const text = members.length === 1 ? `${members[0]} must be set` : `one of ${members.join(", ")} must be set`;
        this.violation(path, { message: text, rule: "oneof.required: true" }, message);
      }
    }
    for (const check of checks) this.field(check, message, path);
  }

  private field(check: FieldCheck, message: Message, path: FieldPath | undefined): void {
    const { field, required, whole, items, keys } = check;
    const value = valueIn(message, field);
    if (value === undefined) {
      // A oneof's member that was not chosen is not missing; what its rules say holds once it is.
      if (required !== undefined && field.oneof === undefined)
        this.violation(stepInto(path, field.name), required, message);
      return;
    }
    const broken = whole?.(field.fieldKind === "message" ? unwrapped(value) : value);
    if (broken !== undefined && !isSpared(field, path)) this.violation(stepInto(path, field.name), broken, message);
    if (items === undefined && keys === undefined) return;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        const violation = items?.(unwrapped(item));
        if (violation !== undefined) this.violation(stepInto(stepInto(path, field.name), index), violation, message);
      }
      return;
    }
    for (const [key, item] of Object.entries(value as object)) {
      for (const violation of [keys?.(key), items?.(unwrapped(item))]) {
        if (violation !== undefined) this.violation(stepInto(stepInto(path, field.name), { key }), violation, message);
      }
    }
  }

  private nested(field: MessageField, message: Message, path: FieldPath | undefined, depth: number): void {
    const value = fieldValue(message, field);
    if (value === undefined || depth > depthLimit * 4) return;
    const schema = field.message;
    if (field.fieldKind === "message") {
      this.message(schema, value as Message, stepInto(path, field.name), depth);
    } else if (Array.isArray(value)) {
      if (value.length === 0) return;
      const at = stepInto(path, field.name);
      for (let index = 0; index < value.length; index++)
        this.message(schema, value[index] as Message, stepInto(at, index), depth);
    } else {
      for (const [key, item] of Object.entries(value as Record<string, Message>)) {
        this.message(schema, item, stepInto(stepInto(path, field.name), { key }), depth);
      }
    }
  }

  private any(any: Any, path: FieldPath | undefined, depth: number): void {
    if (depth > depthLimit || any.typeUrl === "") return;
    const content = this.unpack(any);
    if (content !== undefined) {
      if (content.schema.file.proto.package !== "google.protobuf")
        this.message(content.schema, content.message, path, depth + 1);
    } else if (schemaOf(typeNameOf(any.typeUrl), this.registry) !== undefined) {
      this.add(path, `is not a serialized ${typeNameOf(any.typeUrl)}`, "XDSKIT_FIELD_INVALID");
    }
  }

  private special(problems: readonly SpecialProblem[], path: FieldPath | undefined): void {
    for (const { code, severity, steps, message: text } of problems)
      this.add(steps.reduce<FieldPath | undefined>(stepInto, path), text, code, undefined, severity);
  }

  private violation(path: FieldPath | undefined, { message: text, rule }: Violation, message: Message): void {
    if (isUnchecked(message.$typeName)) {
      this.add(path, `${text}, though Envoy does not check it`, "XDSKIT_RULE_BROKEN", rule, "warning");
    } else this.add(path, text, "XDSKIT_RULE_BROKEN", rule);
  }

  private add(
    path: FieldPath | undefined,
    message: string,
    code: RuleProblem["code"],
    rule?: string,
    severity: RuleProblem["severity"] = "error",
  ): void {
    if (this.problems.length < problemLimit)
      this.problems.push({ code, steps: stepsOf(path), message, rule, severity });
  }
}

/** Whether the rules of a field are kept where it is not set, given a message in which nothing is. */
export function keepsRulesUnset({ field, required, whole }: FieldCheck, empty: Message): boolean {
  const value = valueIn(empty, field);
  if (value === undefined) return required === undefined || field.oneof !== undefined;
  return whole?.(field.fieldKind === "message" ? unwrapped(value) : value) === undefined;
}

/** What a field holds; undefined where a field with presence is not set. */
function valueIn(message: Message, field: FieldCheck["field"]): unknown {
  // The default of a field with explicit presence is found on the prototype of the message.
  const inherits = field.oneof === undefined && field.presence === explicitPresence;
  return inherits && !Object.hasOwn(message, field.localName) ? undefined : fieldValue(message, field);
}

/** FeatureSet.FieldPresence.EXPLICIT */
const explicitPresence = 1;

/** What a wrapper such as `UInt32Value` holds; it is a message in a oneof or a list, and bare in a field of its own. */
function unwrapped(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("$typeName" in value)) return value;
  const isWrapper =
    typeof value.$typeName === "string" && /^google\.protobuf\.\w+Value$/.test(value.$typeName) && "value" in value;
  return isWrapper ? value.value : value;
}
