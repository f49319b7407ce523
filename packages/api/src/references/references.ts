import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { FieldStep } from "../errors/field-path.js";
import type { Unpack } from "../messages/any.js";
import { anyDepth } from "../messages/depths.js";
import { createPlans, fieldValue, type WalkPlan } from "../messages/walk-plan.js";
import { canonicalName } from "../names/xdstp.js";
import type { Reference } from "./reference.js";
import { type MessageFields, type Refer, type ReferenceRule, referenceRule } from "./rules.js";

interface OwnReferences {
  readonly isAny: boolean;
  readonly rule: ReferenceRule | undefined;
}

const ownOf = (schema: DescMessage): OwnReferences => ({
  isAny: schema.typeName === "google.protobuf.Any",
  rule: referenceRule(schema),
});

const planOf = createPlans((schema) => {
  const { isAny, rule } = ownOf(schema);
  return isAny || rule !== undefined;
}, ownOf);

/**
 * The resources that a message names, at any depth and inside known `Any`s. Each reference appears once, in the order
 * of the message's fields.
 */
export function referencesOf(schema: DescMessage, message: Message, unpack: Unpack): readonly Reference[] {
  const found = new Map<string, Reference>();
  const refer: Refer = (type, name) => {
    if (!isName(name)) return;
    const canonical = canonicalName(name);
    found.set(`${type} ${canonical}`, { type, name: canonical });
  };
  new ReferenceWalk(unpack, refer).visit(planOf(schema), message, 0);
  return found.size === 0 ? nothing : [...found.values()];
}

/** The steps to the first field that names a resource; empty if there is none. */
export function stepsToReference(
  schema: DescMessage,
  message: Message,
  unpack: Unpack,
  reference: Reference,
): readonly FieldStep[] {
  let found: readonly FieldStep[] | undefined;
  const walk = new ReferenceWalk(unpack, (type, name, ...steps) => {
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

class ReferenceWalk {
  /** The steps to the message that is being visited. */
  readonly steps: FieldStep[] = [];
  private readonly unpack: Unpack;
  private readonly refer: Refer;

  constructor(unpack: Unpack, refer: Refer) {
    this.unpack = unpack;
    this.refer = refer;
  }

  visit(plan: WalkPlan<OwnReferences>, message: Message, depth: number): void {
    if (plan.own.isAny) {
      const content = depth < anyDepth ? this.unpack(message as Any) : undefined;
      if (content === undefined) return;
      if (content.struct !== undefined) this.steps.push("value");
      this.visit(planOf(content.schema), content.message, depth + 1);
      if (content.struct !== undefined) this.steps.pop();
      return;
    }
    // An xDS server is a static cluster of the client's bootstrap, not a resource.
    if (plan.schema.typeName === "envoy.config.core.v3.ConfigSource") return;
    plan.own.rule?.(message as Message & MessageFields, this.refer);
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

  private step(step: FieldStep, plan: WalkPlan<OwnReferences>, message: Message, depth: number): void {
    this.steps.push(step);
    this.visit(plan, message, depth);
    this.steps.pop();
  }
}
