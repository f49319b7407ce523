import type { DescField, DescMessage, JsonObject, JsonValue, Message, Registry } from "@bufbuild/protobuf";
import { isObject } from "../text/source-document.js";
import { messageFromJson } from "./forms/canonical-json.js";
import { hasOwnJsonForm } from "./forms/own-form.js";
import { without } from "./json-message.js";

/** Lists of so many items are long. */
const manyItems = 1_000;

/** Whether a value has a long list in it. */
export function hasLongList(value: JsonValue, least: number = manyItems): boolean {
  if (typeof value !== "object" || value === null) return false;
  const items = Array.isArray(value) ? value : Object.values(value);
  return (Array.isArray(value) && value.length >= least) || items.some((item) => hasLongList(item, least));
}

/**
 * A message for those who judge it, and not to be kept: the items of long lists become messages only while somebody
 * looks at them. All at once they take up to five hundred times the memory of their text. Its JSON must be explained
 * before.
 */
export function judgedMessage(schema: DescMessage, json: JsonValue, registry: Registry, least = manyItems): Message {
  const later = isObject(json) ? fieldsWithLongLists(schema, json, least) : [];
  if (!isObject(json) || later.length === 0) return messageFromJson(schema, json, registry);
  const message = messageFromJson(schema, without(json, ...later.map(({ key }) => key)), registry);
  for (const { key, field, schema: inner } of later) {
    const value = json[key] ?? null;
    const made = Array.isArray(value)
      ? lazyList(value, (item) => judgedMessage(inner, item, registry, least))
      : judgedMessage(inner, value, registry, least);
    const { oneof, localName } = field;
    const own = oneof === undefined ? { [localName]: made } : { [oneof.localName]: { case: localName, value: made } };
    Object.assign(message, own);
  }
  return message;
}

interface LaterField {
  readonly key: string;
  readonly field: DescField;
  readonly schema: DescMessage;
}

function fieldsWithLongLists(schema: DescMessage, json: JsonObject, least: number): readonly LaterField[] {
  if (hasOwnJsonForm(schema)) return [];
  return Object.keys(json).flatMap((key): LaterField[] => {
    const value = json[key];
    if (typeof value !== "object" || value === null) return [];
    const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    const inner = field?.fieldKind === "map" ? undefined : field?.message;
    if (field === undefined || inner === undefined || hasOwnJsonForm(inner)) return [];
    // One item may stand for a list, and lists in a list for one: the reader of whole messages knows that.
    const isPlain = field.fieldKind === "list" ? Array.isArray(value) && value.every(isObject) : isObject(value);
    return isPlain && hasLongList(value, least) ? [{ key, field, schema: inner }] : [];
  });
}

/** A list whose items are made when they are asked for; the last one is remembered. */
function lazyList(items: readonly JsonValue[], make: (item: JsonValue) => Message): readonly Message[] {
  let last: { readonly index: number; readonly message: Message } | undefined;
  const indexOf = (key: string | symbol) => (typeof key === "string" && /^\d+$/.test(key) ? Number(key) : undefined);
  return new Proxy<Message[]>([], {
    get(target, key, receiver) {
      if (key === "length") return items.length;
      const index = indexOf(key);
      if (index === undefined) return Reflect.get(target, key, receiver);
      const item = items[index];
      if (item === undefined) return undefined;
      if (last?.index !== index) last = { index, message: make(item) };
      return last.message;
    },
    has: (target, key) => (indexOf(key) ?? items.length) < items.length || Reflect.has(target, key),
  });
}
