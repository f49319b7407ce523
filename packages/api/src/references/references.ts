import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { Unpack } from "../any.js";
import { createPlans, fieldValue, type MessagePlan } from "../message-plan.js";
import type { Reference } from "../resource-types/resource-type.js";
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
    if (typeof name === "string" && name !== "") found.set(`${type} ${name}`, { type, name });
  };
  visit(planOf(schema), message, unpack, refer, 0);
  return found.size === 0 ? nothing : [...found.values()];
}

const nothing: readonly Reference[] = Object.freeze([]);

function visit(plan: MessagePlan<Own>, message: Message, unpack: Unpack, refer: Refer, depth: number): void {
  if (plan.own.isAny) {
    const content = depth < depthLimit ? unpack(message as Any) : undefined;
    if (content !== undefined) visit(planOf(content.schema), content.message, unpack, refer, depth + 1);
    return;
  }
  // Servers of xDS are static clusters of the client's bootstrap, not resources.
  if (plan.schema.typeName === "envoy.config.core.v3.ConfigSource") return;
  plan.own.rule?.(message as Message & Fields, refer);
  for (const path of plan.paths) {
    const value = fieldValue(message, path.field);
    if (value === undefined) continue;
    if (path.shape === "one") visit(path.plan, value as Message, unpack, refer, depth);
    else {
      const items = path.shape === "list" ? (value as readonly Message[]) : Object.values(value as Fields);
      for (const item of items) visit(path.plan, item as Message, unpack, refer, depth);
    }
  }
}
