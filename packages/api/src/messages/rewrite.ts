import { type DescField, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { type Unpack, type UnpackedAny, withContent } from "./any.js";
import { anyDepth } from "./depths.js";
import { mapList, mapRecord, sortedJson, sortedRecord } from "./sorted.js";
import { createPlans, fieldValue, type WalkPath, type WalkPlan, withField } from "./walk-plan.js";

/** Instructions for rewriting messages. */
export interface Rewriting {
  /** The full name that an `Any` should give a message. */
  readonly nameOf: (schema: DescMessage) => string;
  /** By full name: changes to messages. A function returns its argument, or a changed copy. */
  readonly change: ReadonlyMap<string, MessageChange>;
}

type MessageChange = (message: Message) => Message;

/**
 * Returns the message itself if nothing changes, otherwise a copy that shares unchanged parts. Never changes its
 * argument.
 */
export type Rewrite = (schema: DescMessage, message: Message, unpack: Unpack) => Message;

/** The work at a message, besides following its paths. */
interface OwnRewrite {
  readonly isAny: boolean;
  readonly maps: readonly DescField[];
  readonly change: MessageChange | undefined;
}

/**
 * Brings messages into canonical order, which their bytes are made from: map entries sorted by key, also in `Struct`s
 * and known `Any`s, and applies `rewriting`.
 */
export function createRewrite(rewriting: Rewriting): Rewrite {
  const ownOf = (schema: DescMessage): OwnRewrite => ({
    isAny: schema.typeName === "google.protobuf.Any",
    maps: schema.fields.filter((field) => field.fieldKind === "map"),
    change: rewriting.change.get(schema.typeName),
  });
  const isTarget = (schema: DescMessage): boolean => {
    const { isAny, maps, change } = ownOf(schema);
    return isAny || maps.length > 0 || change !== undefined;
  };
  const planOf = createPlans(isTarget, ownOf);

  function rewriteMessage(plan: WalkPlan<OwnRewrite>, message: Message, unpack: Unpack, depth: number): Message {
    const { isAny, maps, change } = plan.own;
    if (isAny) return rewriteAny(message as Any, unpack, depth);
    let result = message;
    for (const path of plan.paths) {
      const before = fieldValue(message, path.field);
      if (before === undefined) continue;
      const after = rewriteField(path, before, unpack, depth);
      if (after !== before) result = withField(result, path.field, after);
    }
    for (const field of maps) {
      const before = fieldValue(result, field) as { readonly [key: string]: unknown };
      const after = sortedRecord(before);
      if (after !== before) result = withField(result, field, after);
    }
    return change === undefined ? result : change(result);
  }

  function rewriteField(path: WalkPath<OwnRewrite>, value: unknown, unpack: Unpack, depth: number): unknown {
    const one = path.jsonStruct
      ? sortedJson
      : (item: unknown): unknown => rewriteMessage(path.plan, item as Message, unpack, depth);
    if (path.shape === "list") return mapList(value as readonly unknown[], one);
    if (path.shape === "map") return mapRecord(value as { readonly [key: string]: unknown }, one);
    return one(value);
  }

  function rewriteAny(any: Any, unpack: Unpack, depth: number): Any {
    const content = depth < anyDepth ? unpack(any) : undefined;
    if (content === undefined) return any;
    const { schema, message } = rewriteStruct(content, unpack, depth);
    const typeUrl = renamed(any.typeUrl, schema);
    const value = bytesOf(schema, rewriteMessage(planOf(schema), message, unpack, depth + 1));
    if (value === undefined) return any;
    if (typeUrl === any.typeUrl && Buffer.compare(value, any.value) === 0) return any;
    return { ...any, typeUrl, value };
  }

  /** The message in an `Any`. The content of a TypedStruct is rewritten only if it says something else then. */
  function rewriteStruct({ schema, message, struct }: UnpackedAny, unpack: Unpack, depth: number) {
    if (struct === undefined) return { schema, message };
    const typeUrl = renamed(struct.message.typeUrl, schema);
    const isSame = typeUrl === struct.message.typeUrl;
    if (!struct.isWhole || (isSame && rewriting.change.size === 0)) return struct;
    const after = rewriteMessage(planOf(schema), message, unpack, depth + 1);
    if (isSame && after === message) return struct;
    return { schema: struct.schema, message: { ...withContent(struct, schema, after), typeUrl } };
  }

  function renamed(typeUrl: string, schema: DescMessage): string {
    return `${typeUrl.slice(0, typeUrl.lastIndexOf("/") + 1)}${rewriting.nameOf(schema)}`;
  }

  return (schema, message, unpack) => rewriteMessage(planOf(schema), message, unpack, 0);
}

/** Undefined if a message could be read but cannot be written, such as one of proto2 without a required field. */
function bytesOf(schema: DescMessage, message: Message): Uint8Array | undefined {
  try {
    return toBinary(schema, message);
  } catch {
    return undefined;
  }
}
