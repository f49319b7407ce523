import { create, type DescField, type DescMessage, type Message, type Registry } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { slotsOf } from "../envoy-versions/extension-types.js";
import { maxKept } from "../errors/limits.js";
import { isTypedStruct } from "../messages/any.js";
import { schemaOf } from "../messages/v2-names.js";
import { typeNameOf, typeUrlPrefix } from "../names/identifiers.js";
import { perObject } from "../names/per-object.js";
import { copied } from "../reading/file-reading.js";
import { type MessageFields, referenceRule } from "../references/rules.js";
import { isObject } from "../text/source-document.js";
import type { FieldCheck } from "../validate/field-check.js";
import { plansOf } from "../validate/message-plan.js";
import { refusalRules } from "../validate/refused/rules.js";
import { slotProblem } from "../validate/slot-problems.js";
import { specialRules } from "../validate/special-checks.js";
import { keepsRulesUnset } from "../validate/validate-message.js";
import { textBytes } from "../wire/wire-writer.js";
import { giveUp } from "./doubt.js";
import { createWriteField } from "./field-writer.js";
import { readsValues, viewOf } from "./json-view.js";
import { scalarOf } from "./scalars.js";
import { createShapes, type Members, type MessageCheck, type Shape, type ShapeMember } from "./shape.js";
import { wellKnown } from "./well-known.js";
import type { MessageWriter, WriteMessage } from "./writers.js";

/** The writers of a registry live as long as it. */
export const writersOf = perObject((registry: Registry) => new FieldWriters(registry));

/** An xDS server is a static cluster of the client's bootstrap, not a resource. */
const configSource = "envoy.config.core.v3.ConfigSource";

/** 1 if references inside such a message do not count, else 0. */
export function mutesOf({ typeName }: DescMessage): number {
  return typeName === configSource ? 1 : 0;
}

/** Messages with their own JSON form that only other readers know. */
export function isUnread({ typeName }: DescMessage): boolean {
  return typeName.startsWith("google.protobuf.") && typeName !== "google.protobuf.Empty";
}

/** The writers for the messages of one registry. They are made on first use. */
class FieldWriters {
  private readonly registry: Registry;
  private readonly urls = new Map<string, MessageWriter>();

  constructor(registry: Registry) {
    this.registry = registry;
  }

  readonly of = perObject(
    (schema: DescMessage): MessageWriter =>
      schema.typeName === "google.protobuf.Any" ? this.anyWriter(schema) : this.writer(schema),
  );

  /** By type URL; for a v2 type the writer of its successor. Undefined if the type is unknown. */
  byUrl(url: string): MessageWriter | undefined {
    let writer = this.urls.get(url);
    if (writer === undefined) {
      const schema = schemaOf(typeNameOf(url), this.registry);
      if (schema === undefined) return undefined;
      writer = this.of(schema);
      if (this.urls.size >= maxKept) this.urls.clear();
      // A URL from YAML is a view of its file's text.
      this.urls.set(copied(url), writer);
    }
    return writer;
  }

  private writer(schema: DescMessage): MessageWriter {
    const named = namesOf(schema);
    const special = wellKnown[schema.typeName] ?? (isWrapperDesc(schema) ? wrapperWriter(schema) : undefined);
    if (special !== undefined) return writerOf(named, special, (out, json) => special(out, valueIn(json)));
    // Fields are compiled when the first message arrives: a message may contain its own type, and most types are never
    // used.
    const compile = () => Object.assign(writer, this.objectWriters(schema));
    const writer = writerOf(
      named,
      (out, json) => compile().write(out, json),
      (out, json) => compile().writeTyped(out, json),
    );
    return writer;
  }

  private objectWriters(schema: DescMessage): Pick<MessageWriter, "write" | "writeTyped"> {
    if (isUnread(schema)) return { write: giveUp, writeTyped: giveUp };
    const members = membersOf(schema, this.registry, this.of);
    return { write: objectWriter(schema, members, false), writeTyped: objectWriter(schema, members, true) };
  }

  /** The content of an `Any` is also written in canonical order; its type URL gets the usual prefix and the v3 name. */
  private anyWriter(schema: DescMessage): MessageWriter {
    let usual = 2;
    const write: WriteMessage = (out, json) => {
      const url = isObject(json) ? json["@type"] : undefined;
      const content = typeof url === "string" ? this.byUrl(url) : undefined;
      // What stands in a TypedStruct has rules too.
      if (content === undefined || isTypedStruct(content.schema)) return giveUp();
      for (const { depth, categories } of out.slots)
        if (depth === out.depth && slotProblem(categories, content.schema.typeName) !== undefined) giveUp();
      // Other readers canonicalize only this many nested `Any`s. Nothing deeper is accepted here.
      out.enter(2);
      out.copy(content.urlField);
      out.tag(0x12);
      // The content may change `usual`.
      const reserved = usual;
      const start = out.open(reserved);
      content.writeTyped(out, json);
      if (out.isEmptySince(start, reserved)) out.takeBack(start - 1);
      else usual = out.close(start, reserved);
      out.leave(2);
      return content;
    };
    return writerOf(namesOf(schema), write, (out, json) => write(out, valueIn(json)));
  }
}

/** Writes messages from objects. @param typed whether they have `"@type"` */
function objectWriter(schema: DescMessage, members: Members, typed: boolean): WriteMessage {
  const { root, after, orderOf } = createShapes(members, typed);
  const judges = judgesOf(schema, typed);
  const view = viewOf(schema);
  const mutes = mutesOf(schema);
  return (out, json) => {
    if (!isObject(json)) return giveUp();
    out.enter();
    out.muted += mutes;
    const { values, top } = out;
    let shape: Shape = root;
    let end = top;
    for (const key in json) {
      shape = shape.lastKey === key ? (shape.lastNext as Shape) : after(shape, key);
      values[end++] = json[key];
    }
    const { places, writes } = shape.order ?? orderOf(shape);
    out.top = end;
    if (shape.judges === undefined) {
      const message = view(json) as MessageFields;
      shape.judges = judges.filter((judge) => readsValues(() => judge(out, message)));
    } else if (shape.judges.length > 0) {
      const message = view(json) as MessageFields;
      for (const judge of shape.judges) judge(out, message);
    }
    for (let index = 0; index < places.length; index++) {
      const value = values[top + (places[index] as number)];
      // Null mostly means that nothing is set.
      if (value === null) giveUp();
      (writes[index] as ShapeMember["write"])(out, value);
    }
    out.top = top;
    out.muted -= mutes;
    out.leave();
    return undefined;
  };
}

/**
 * The judges of a schema's messages before these are written: they give up at one that a rule refuses, and note the
 * resources that it names. Messages with `"@type"` may be resources.
 */
function judgesOf(schema: DescMessage, typed: boolean): readonly MessageCheck[] {
  const rules = [...specialRules(schema.typeName), ...refusalRules(schema.typeName, typed)];
  const judges = rules.map(
    (rule): MessageCheck =>
      (_out, message) => {
        if (rule(message as never).length > 0) giveUp();
      },
  );
  const refer = referenceRule(schema);
  return refer === undefined ? judges : [...judges, (out, message) => refer(message, out.refer)];
}

/** The fields that messages of a schema must and may have. */
export function membersOf(
  schema: DescMessage,
  registry: Registry,
  writerOf: (schema: DescMessage) => MessageWriter,
): Members {
  const { oneofs, checks } = plansOf(registry).own(schema);
  const checkOf = new Map<DescField, FieldCheck>(checks.map((check) => [check.field, check]));
  const empty: Message = create(schema);
  const byNumber = new Map<number, ShapeMember>();
  const required = checks.filter((check) => !keepsRulesUnset(check, empty)).map(({ field }) => field.number);
  return {
    find(key) {
      const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
      if (field === undefined) return undefined;
      let member = byNumber.get(field.number);
      if (member === undefined) {
        const check = checkOf.get(field);
        const plain = createWriteField(field, check, writerOf);
        if (plain === undefined) return undefined;
        const write = inSlot(field, plain);
        member = { field, write };
        byNumber.set(field.number, member);
      }
      return member;
    },
    required,
    requiredOneofs: oneofs.map(({ localName }) => localName),
  };
}

/** Notes which extensions may stand in a field: in its `Any`, or in that of its message, which is one level deeper. */
function inSlot(field: DescField, write: ShapeMember["write"]): ShapeMember["write"] {
  const [own, ofResource] = [false, true].map((isOfResource) => slotsOf(undefined, field, isOfResource));
  if (field.message === undefined || (own?.length === 0 && ofResource?.length === 0)) return write;
  const deeper = field.message.typeName === "google.protobuf.Any" ? 0 : 1;
  return (out, json) => {
    const categories = (out.depth === 1 ? ofResource : own) ?? [];
    out.slots.push({ depth: out.depth + deeper, categories });
    write(out, json);
    out.slots.pop();
  };
}

/** A wrapper such as `UInt32Value`, which is a bare value in JSON. */
function wrapperWriter(schema: DescMessage): WriteMessage | undefined {
  const [field] = schema.fields;
  const scalar = field?.scalar === undefined ? undefined : scalarOf(field.scalar);
  if (scalar === undefined) return undefined;
  const tag = (1 << 3) | scalar.wireType;
  return (out, json) => {
    const value = scalar.read(json);
    if (value !== scalar.zero) {
      out.tag(tag);
      scalar.write(out, value);
    }
    return scalar.checked === undefined ? value : scalar.checked(value);
  };
}

/** A message, and how it is named on the wire. */
type NamedMessage = Pick<MessageWriter, "schema" | "typeUrl" | "urlField">;

function namesOf(schema: DescMessage): NamedMessage {
  const typeUrl = `${typeUrlPrefix}${schema.typeName}`;
  return { schema, typeUrl, urlField: textBytes(1, typeUrl) };
}

/** All writers are created here, so that they share one hidden class: the field writers call many of them. */
function writerOf(
  { schema, typeUrl, urlField }: NamedMessage,
  write: WriteMessage,
  writeTyped: WriteMessage,
): MessageWriter {
  return { schema, typeUrl, urlField, write, writeTyped };
}

/** The value of a message with its own JSON form, in an object with `"@type"`. */
function valueIn(json: unknown): unknown {
  return isObject(json) && Object.keys(json).length === 2 && Object.hasOwn(json, "value") ? json.value : giveUp();
}
