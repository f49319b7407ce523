import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { Unpack } from "../any.js";
import type { FieldStep } from "../field-path.js";
import { createPlans, fieldValue, type MessagePlan } from "../message-plan.js";
import type { Reference } from "../resource-types/resource-type.js";
import { canonicalName } from "../xdstp.js";
import { type Fields, type Refer, type ReferenceRule, referenceRule } from "./rules.js";

interface Own {
  readonly isAny: boolean;
  readonly rule: ReferenceRule | undefined;
}

/** `Any`s inside `Any`s are followed to this depth. */
const depthLimit = 32;

const ownOf = (schema: DescMessage): Own => ({
  isAny: schema.typeName === "google.protobuf.Any",
  rule: referenceRule(schema),
});

const planOf = createPlans((schema) => {
  const { isAny, rule } = ownOf(schema);
  return isAny || rule !== undefined;
}, ownOf);

/** Which resources a message names, at any depth and inside known `Any`s. Every reference once, in the order of the message's fields. */
export function referencesOf(schema: DescMessage, message: Message, unpack: Unpack): readonly Reference[] {
  const found = new Map<string, Reference>();
  const refer: Refer = (type, name) => {
    if (!isName(name)) return;
    const canonical = canonicalName(name);
    found.set(`${type} ${canonical}`, { type, name: canonical });
  };
  new Walk(unpack, refer).visit(planOf(schema), message, 0);
  return found.size === 0 ? nothing : [...found.values()];
}

/** The way to the first field by which a message names a resource; empty where it does not. */
export function stepsToReference(
  schema: DescMessage,
  message: Message,
  unpack: Unpack,
  reference: Reference,
): readonly FieldStep[] {
  let found: readonly FieldStep[] | undefined;
  const walk = new Walk(unpack, (type, name, ...steps) => {
    if (type === reference.type && isName(name) && canonicalName(name) === reference.name)
      found ??= [...walk.steps, ...steps];
  });
  walk.visit(planOf(schema), message, 0);
  return found ?? [];
}

const nothing: readonly Reference[] = Object.freeze([]);

function isName(name: unknown): name is string {
  return typeof name === "string" && name !== "";
}

class Walk {
  /** The way to the message that is visited. */
  readonly steps: FieldStep[] = [];
  private readonly unpack: Unpack;
  private readonly refer: Refer;

  constructor(unpack: Unpack, refer: Refer) {
    this.unpack = unpack;
    this.refer = refer;
  }

  visit(plan: MessagePlan<Own>, message: Message, depth: number): void {
    if (plan.own.isAny) {
      const content = depth < depthLimit ? this.unpack(message as Any) : undefined;
      if (content !== undefined) this.visit(planOf(content.schema), content.message, depth + 1);
      return;
    }
    // Servers of xDS are static clusters of the client's bootstrap, not resources.
    if (plan.schema.typeName === "envoy.config.core.v3.ConfigSource") return;
    plan.own.rule?.(message as Message & Fields, this.refer);
    for (const path of plan.paths) {
      const value = fieldValue(message, path.field);
      if (value === undefined) continue;
      this.steps.push(path.field.name);
      if (path.shape === "one") this.visit(path.plan, value as Message, depth);
      else if (path.shape === "list") {
        for (const [index, item] of (value as readonly Message[]).entries()) this.step(index, path.plan, item, depth);
      } else {
        const entries = Object.entries(value as { readonly [key: string]: Message });
        for (const [key, item] of entries) this.step({ key }, path.plan, item, depth);
      }
      this.steps.pop();
    }
  }

  private step(step: FieldStep, plan: MessagePlan<Own>, message: Message, depth: number): void {
    this.steps.push(step);
    this.visit(plan, message, depth);
    this.steps.pop();
  }
}
