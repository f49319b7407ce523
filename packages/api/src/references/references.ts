import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { Unpack } from "../any.js";
import { createPaths, fieldValue } from "../message-paths.js";
import type { Reference } from "../resource-types/resource-type.js";
import { type Fields, type Refer, type ReferenceRule, referenceRule } from "./rules.js";

/** `Any`s inside `Any`s are followed to this depth. */
const depthLimit = 32;

const ruleCache = new WeakMap<DescMessage, ReferenceRule | null>();

function ruleOf(schema: DescMessage): ReferenceRule | null {
  let rule = ruleCache.get(schema);
  if (rule === undefined) {
    rule = referenceRule(schema) ?? null;
    ruleCache.set(schema, rule);
  }
  return rule;
}

const pathsOf = createPaths((schema) => schema.typeName === "google.protobuf.Any" || ruleOf(schema) !== null);

/** Which resources a message names, at any depth and inside known `Any`s. Every reference once, in the order of the message's fields. */
export function referencesOf(schema: DescMessage, message: Message, unpack: Unpack): readonly Reference[] {
  const found = new Map<string, Reference>();
  const refer: Refer = (type, name) => {
    if (typeof name === "string" && name !== "") found.set(`${type} ${name}`, { type, name });
  };
  visit(schema, message, unpack, refer, 0);
  return [...found.values()];
}

function visit(schema: DescMessage, message: Message, unpack: Unpack, refer: Refer, depth: number): void {
  if (schema.typeName === "google.protobuf.Any") {
    const content = depth < depthLimit ? unpack(message as Any) : undefined;
    if (content !== undefined) visit(content.schema, content.message, unpack, refer, depth + 1);
    return;
  }
  // Servers of xDS are static clusters of the client's bootstrap, not resources.
  if (schema.typeName === "envoy.config.core.v3.ConfigSource") return;
  ruleOf(schema)?.(message as Message & Fields, refer);
  for (const field of pathsOf(schema)) {
    const value = fieldValue(message, field);
    if (value === undefined) continue;
    if (field.fieldKind === "list") {
      for (const item of value as readonly Message[]) visit(field.message, item, unpack, refer, depth);
    } else if (field.fieldKind === "map") {
      for (const item of Object.values(value as object)) visit(field.message, item, unpack, refer, depth);
    } else visit(field.message, value as Message, unpack, refer, depth);
  }
}
