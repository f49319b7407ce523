import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type Any, FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { FilterConfig } from "@xdskit/api/envoy/config/route/v3/route_components";
import { slotsOf } from "../envoy-versions/extension-types.js";
import { filterConfig } from "../envoy-versions/per-route.js";
import type { Finding } from "../errors/errors.js";
import { type FieldPath, formatFieldPath, stepInto, stepsOf } from "../errors/field-path.js";
import type { FieldProblem } from "../errors/field-problem.js";
import { errorsIn } from "../errors/findings.js";
import { makePlace } from "../errors/make-place.js";
import { createUnpack, pathInto, type Unpack, type UnpackedAny } from "../messages/any.js";
import { messageDepth } from "../messages/depths.js";
import { schemaOf } from "../messages/v2-names.js";
import { fieldValue, type MessageField } from "../messages/walk-plan.js";
import { typeNameOf } from "../names/identifiers.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { FieldCheck } from "./field-check.js";
import { type OwnRules, type Plans, plansOf } from "./message-plan.js";
import { acceptedByGrpc } from "./refused/problem.js";
import { type Rule, refusalRules } from "./refused/rules.js";
import { slotProblem } from "./slot-problems.js";
import { isOfGrpc, isSpared, type Readers, readersOf } from "./spared-fields.js";
import { isSpecial, specialRules } from "./special-checks.js";
import { structProblems } from "./struct-problems.js";
import { isUnchecked } from "./unchecked-messages.js";
import type { Violation } from "./values/value-check.js";

/** A field that breaks a rule. */
export interface RuleProblem extends FieldProblem {
  readonly severity: Finding["severity"];
  readonly rule?: string | undefined;
}

/** How to check a message. */
export interface ValidateOptions {
  /** Resolves the content of `Any`s. Default: Envoy's messages. */
  readonly registry?: Registry | undefined;
  /** Whether to return warnings too. Default: false. */
  readonly warnings?: boolean | undefined;
  /**
   * Whether to check the rules, and for values that Envoy refuses. Default: true. Without them only an unreadable `Any`
   * of a known type is a finding.
   */
  readonly rules?: boolean | undefined;
  /**
   * Whether to check also for values that Envoy itself refuses, even if the protos' rules and gRPC's clients allow
   * them. Default: false.
   */
  readonly envoy?: boolean | undefined;
}

/**
 * Checks a message and everything in it by the rules of its proto files (`validate.rules`, as protoc-gen-validate
 * defines them), also inside every `Any` of a known type. It also checks that regular expressions are RE2, and a few
 * things that Envoy refuses without a rule. Returns at most 100 findings, errors rather than warnings; none for a
 * message of an unknown type.
 *
 * @example
 * ```ts
 * import { validateMessage } from "@xdskit/api";
 * import { edsCluster } from "@xdskit/api/builders";
 *
 * for (const { field, message } of validateMessage(edsCluster({ name: "" }))) console.log(field, message);
 * ```
 */
export function validateMessage(message: Message, options: ValidateOptions = {}): readonly Finding[] {
  const registry = options.registry ?? envoyRegistry();
  const schema = schemaOf(message.$typeName, registry);
  if (schema === undefined) return [];
  const problems = checkMessage(schema, message, registry, undefined, options);
  const wanted = options.warnings === true ? problems : errorsIn(problems);
  return wanted.map(({ code, severity, message: text, steps, rule }) => {
    return { code, severity, message: text, field: formatFieldPath(steps), type: schema.typeName, rule };
  });
}

/** The findings to return. */
type AskedOfMessage = Pick<ValidateOptions, "rules" | "envoy">;

/** Like `validateMessage`, with the steps to each field. `unpack` avoids reading `Any`s twice. */
export function checkMessage(
  schema: DescMessage,
  message: Message,
  registry: Registry,
  unpack: Unpack = createUnpack(registry),
  asked: AskedOfMessage = {},
): readonly RuleProblem[] {
  const validator = new Validator(registry, unpack, readersOf(message), asked);
  validator.message(schema, message, undefined, 0);
  return validator.problems;
}

/** Whether this is the path of a resource: of the whole, or of a member of a list of resources. */
function isResource(path: FieldPath | undefined): boolean {
  return path === undefined || (path.step === "resource" && path.parent?.step === "inline_entry");
}

class Validator {
  readonly problems: RuleProblem[] = [];
  private readonly registry: Registry;
  private readonly unpack: Unpack;
  private readonly readers: Readers;
  private readonly plans: Plans;
  private readonly rules: boolean;
  private readonly envoy: boolean;
  /** The field with the message that is being checked, and the field in it; undefined at the content of an `Any`. */
  private around: DescField | undefined;
  private inner: DescField | undefined;
  /** Whether the format strings of a message around are not judged. */
  private ownCommands: RegExp | undefined;

  constructor(registry: Registry, unpack: Unpack, readers: Readers, { rules = true, envoy = false }: AskedOfMessage) {
    this.registry = registry;
    this.unpack = unpack;
    this.readers = readers;
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
      if (this.rules) this.special(specialRules(schema.typeName), message, path);
    }
    const refusals = this.envoy ? refusalRules(schema.typeName, isResource(path)) : [];
    const { ownCommands } = this;
    this.ownCommands = ownCommandsOf(message) ?? ownCommands;
    if (refusals.length > 0 && !isOfGrpc(path)) this.special(refusals, message, path);
    const plan = this.plans(schema);
    if (this.rules) this.own(plan, message, path);
    for (const field of plan.nested) this.nested(field, message, path, depth + 1);
    this.ownCommands = ownCommands;
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
      // A oneof member that was not chosen is not missing. Its rules apply once it is chosen.
      if (required !== undefined && field.oneof === undefined) this.broken(field, path, required, message);
      return;
    }
    const broken = whole?.(field.fieldKind === "message" ? unwrapped(value) : value);
    if (broken !== undefined) this.broken(field, path, broken, message);
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
    if (value === undefined || depth > messageDepth * 4) return;
    const { around, inner } = this;
    this.around = inner;
    this.inner = isPassedOver(message) ? undefined : field;
    this.values(field, value, path, depth);
    this.around = around;
    this.inner = inner;
  }

  private values(field: MessageField, value: unknown, path: FieldPath | undefined, depth: number): void {
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
    if (depth > messageDepth) return;
    const content = any.typeUrl === "" ? undefined : this.unpack(any);
    if (this.envoy && !isOfGrpc(path)) {
      const loose = any.value.length === 0 || content?.struct !== undefined;
      this.slot(content?.schema.typeName ?? typeNameOf(any.typeUrl), path, loose);
    }
    if (any.typeUrl === "") return;
    if (content !== undefined) {
      const { registry, rules } = this;
      const asked = { registry, rules, isExtension: path?.step === "typed_config" };
      for (const { code, message, steps } of structProblems(content, asked))
        this.add(steps.reduce<FieldPath | undefined>(stepInto, path), message, code);
      if (content.schema.file.proto.package !== "google.protobuf") this.content(content, path, depth + 1);
    } else if (schemaOf(typeNameOf(any.typeUrl), this.registry) !== undefined) {
      this.add(path, `is not a serialized ${typeNameOf(any.typeUrl)}`, "XDSKIT_FIELD_INVALID");
    }
  }

  private slot(typeName: string, path: FieldPath | undefined, loose: boolean): void {
    const { around, inner } = this;
    const slots = inner === undefined ? [] : slotsOf(around, inner, path?.parent === undefined);
    const problem = slotProblem(slots, typeName, loose);
    if (problem !== undefined) this.add(path, problem.message, problem.code);
  }

  private content(content: UnpackedAny, path: FieldPath | undefined, depth: number): void {
    const { around, inner } = this;
    this.around = undefined;
    this.inner = undefined;
    this.message(content.schema, content.message, pathInto(content, path), depth);
    this.around = around;
    this.inner = inner;
  }

  private special(rules: readonly Rule[], message: Message, path: FieldPath | undefined): void {
    for (const rule of rules) {
      for (const { code, severity, steps, message: text, command } of rule(message as never))
        if (command === undefined || this.ownCommands?.test(command) !== true)
          this.add(steps.reduce<FieldPath | undefined>(stepInto, path), text, code, undefined, severity);
    }
  }

  /** A field of a message breaks a rule; gRPC's clients may do without it. */
  private broken(field: DescField, path: FieldPath | undefined, violation: Violation, message: Message): void {
    const at = stepInto(path, field.name);
    const readers = !isSpared(field) ? "envoy" : isOfGrpc(path) ? "grpc" : this.readers;
    if (readers === "envoy") this.violation(at, violation, message);
    else if (readers === "both")
      this.add(at, acceptedByGrpc(violation.message), "XDSKIT_RULE_BROKEN", violation.rule, "warning");
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
    if (makePlace(this.problems, severity)) this.problems.push({ code, steps: stepsOf(path), message, rule, severity });
  }
}

/** Whether a client may do without the extension in a message, or does not look at it. */
function isPassedOver(message: Message): boolean {
  if ("isOptional" in message && message.isOptional === true) return true;
  if (message.$typeName !== filterConfig) return false;
  const { disabled, config } = message as FilterConfig;
  return disabled || config?.typeUrl === "";
}

const any = /(?:)/;

/** Messages whose format strings have commands of their own, or whose texts Envoy takes as they are or does not see. */
const withOwnCommands: ReadonlyMap<string, RegExp> = new Map([
  ["envoy.config.core.v3.TlvEntry", any],
  ["envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaBucketSettings.DenyResponseSettings", any],
  [
    "envoy.extensions.filters.network.generic_proxy.v3.GenericProxy",
    /^(?:METHOD|HOST|PATH|PROTOCOL|(?:REQUEST|RESPONSE)_PROPERTY|GENERIC_RESPONSE_CODE)$/,
  ],
  ["envoy.extensions.filters.http.transform.v3.TransformConfig", /^(?:REQUEST|RESPONSE)_BODY$/],
]);

/** The commands that the format strings in a message may have more: extensions (`formatters`) may bring any. */
function ownCommandsOf(message: Message): RegExp | undefined {
  if ("formatters" in message && Array.isArray(message.formatters) && message.formatters.length > 0) return any;
  return withOwnCommands.get(message.$typeName);
}

/** Whether an unset field satisfies its rules, given an empty message. */
export function keepsRulesUnset({ field, required, whole }: FieldCheck, empty: Message): boolean {
  const value = valueIn(empty, field);
  if (value === undefined) return required === undefined || field.oneof !== undefined;
  return whole?.(field.fieldKind === "message" ? unwrapped(value) : value) === undefined;
}

/** The value of a field; undefined if a field with presence is not set. */
function valueIn(message: Message, field: FieldCheck["field"]): unknown {
  // The default of a field with explicit presence is on the message's prototype.
  const inherits = field.oneof === undefined && field.presence === FeatureSet_FieldPresence.EXPLICIT;
  return inherits && !Object.hasOwn(message, field.localName) ? undefined : fieldValue(message, field);
}

/**
 * The value of a wrapper such as `UInt32Value`, which is a message in a oneof or a list, and a bare value in other
 * fields.
 */
function unwrapped(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("$typeName" in value)) return value;
  const isWrapper =
    typeof value.$typeName === "string" && /^google\.protobuf\.\w+Value$/.test(value.$typeName) && "value" in value;
  return isWrapper ? value.value : value;
}
