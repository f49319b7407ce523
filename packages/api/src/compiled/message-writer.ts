import { create, type DescField, type DescMessage, type Message, type Registry } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { schemaOf, typeNameOf } from "../messages/any.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import { copied } from "../reading/file-reading.js";
import { jsonReferenceRule } from "../references/json-rules.js";
import { perRegistry } from "../registry/per-registry.js";
import { isObject } from "../text/source-document.js";
import type { FieldCheck } from "../validate/field-check.js";
import { jsonCheckOf } from "../validate/json-checks.js";
import { plansOf } from "../validate/message-plan.js";
import { holdsAddress, seldomFields, usualFields } from "../validate/refused/fast.js";
import { keepsRulesUnset } from "../validate/validate-message.js";
import { isIpv4, isIpv6 } from "../validate/values/ip-address.js";
import { giveUp } from "./doubt.js";
import { createWriteField } from "./field-writer.js";
import { scalarOf } from "./scalars.js";
import { createShapes, type Member, type Members, type Shape, type Shapes } from "./shape.js";
import { wellKnown } from "./well-known.js";
import type { MessageWriter, WriteField, WriteMessage } from "./writers.js";

/** The writers for the messages of one registry. They are made on first use, and live as long as the registry. */
export interface Writers {
  readonly of: (schema: DescMessage) => MessageWriter;
  /** By type URL; for a v2 type the writer of its successor. Undefined if the type is unknown. */
  readonly byUrl: (url: string) => MessageWriter | undefined;
}

export const writersOf = perRegistry(createWriters);

/** How many spellings of type URLs are remembered. */
const mostUrls = 5000;
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

function createWriters(registry: Registry): Writers {
  const known = new WeakMap<DescMessage, MessageWriter>();
  const urls = new Map<string, MessageWriter>();

  const writers: Writers = {
    of(schema) {
      let writer = known.get(schema);
      if (writer === undefined) {
        writer = schema.typeName === "google.protobuf.Any" ? anyWriter(schema) : createWriter(schema);
        known.set(schema, writer);
      }
      return writer;
    },
    byUrl(url) {
      let writer = urls.get(url);
      if (writer === undefined) {
        const schema = schemaOf(typeNameOf(url), registry);
        if (schema === undefined) return undefined;
        writer = writers.of(schema);
        if (urls.size >= mostUrls) urls.clear();
        // A URL from YAML is a view of its file's text.
        urls.set(copied(url), writer);
      }
      return writer;
    },
  };

  function createWriter(schema: DescMessage): MessageWriter {
    const named = namesOf(schema);
    const special = wellKnown[schema.typeName] ?? (isWrapperDesc(schema) ? wrapperWriter(schema) : undefined);
    if (special !== undefined) return writerOf(named, special, (out, json) => special(out, valueIn(json)));
    // Fields are compiled when the first message arrives: a message may contain its own type, and most types are never
    // used.
    const compile = () => Object.assign(writer, objectWriters(schema));
    const writer = writerOf(
      named,
      (out, json) => compile().write(out, json),
      (out, json) => compile().writeTyped(out, json),
    );
    return writer;
  }

  function objectWriters(schema: DescMessage) {
    const reference = jsonReferenceRule(schema);
    const check = jsonCheckOf(schema.typeName);
    if (reference === "unknown" || check === "unknown" || isUnread(schema))
      return { write: giveUp, writeTyped: giveUp };
    const members = membersOf(schema, registry, writers.of);
    const mutes = mutesOf(schema);

    const writer = ({ root, after, orderOf }: Shapes): WriteMessage => {
      return (out, json) => {
        if (!isObject(json)) return giveUp();
        out.enter();
        out.muted += mutes;
        if (check !== undefined && !check(json)) giveUp();
        reference?.(json, out);
        const { values, top } = out;
        let shape: Shape = root;
        let end = top;
        for (const key in json) {
          shape = shape.lastKey === key ? (shape.lastNext as Shape) : after(shape, key);
          values[end++] = json[key];
        }
        const { places, writes } = shape.order ?? orderOf(shape);
        out.top = end;
        for (let index = 0; index < places.length; index++) {
          const value = values[top + (places[index] as number)];
          // Null mostly means that nothing is set.
          if (value === null) giveUp();
          (writes[index] as Member["write"])(out, value);
        }
        out.top = top;
        out.muted -= mutes;
        out.leave();
        return undefined;
      };
    };
    return { write: writer(createShapes(members, false)), writeTyped: writer(createShapes(members, true)) };
  }

  /** The content of an `Any` is also written in canonical order; its type URL gets the usual prefix and the v3 name. */
  function anyWriter(schema: DescMessage): MessageWriter {
    let usual = 2;
    const write: WriteMessage = (out, json) => {
      const url = isObject(json) ? json["@type"] : undefined;
      const content = typeof url === "string" ? writers.byUrl(url) : undefined;
      if (content === undefined) return giveUp();
      // Other readers canonicalize only so many nested `Any`s. Nothing deeper is accepted here.
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

  return writers;
}

/** What messages of a schema must and may have. */
export function membersOf(schema: DescMessage, registry: Registry, writerOf: Writers["of"]): Members {
  const { oneofs, checks } = plansOf(registry).own(schema);
  const checkOf = new Map<DescField, FieldCheck>(checks.map((check) => [check.field, check]));
  const empty: Message = create(schema);
  const byNumber = new Map<number, Member>();
  const seldom = seldomFields(schema.typeName);
  const usual = usualFields(schema.typeName);
  const required = schema.fields.filter(({ name }) => usual.includes(name)).map(({ number }) => number);
  for (const check of checks) if (!keepsRulesUnset(check, empty)) required.push(check.field.number);
  return {
    find(key) {
      const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
      if (field === undefined || seldom.includes(field.name)) return undefined;
      let member = byNumber.get(field.number);
      if (member === undefined) {
        const check = checkOf.get(field);
        const plain = createWriteField(field, check, writerOf);
        if (plain === undefined) return undefined;
        const write = holdsAddress(schema.typeName, field.name) ? noting(plain) : plain;
        member = { field, write };
        byNumber.set(field.number, member);
      }
      return member;
    },
    required,
    requiredOneofs: oneofs.map(({ localName }) => localName),
  };
}

/** Writes a socket's address, and counts it if it is not an IP address. */
function noting(write: WriteField): WriteField {
  return (out, json) => {
    if (typeof json !== "string" || !(isIpv4(json) || isIpv6(json))) out.hosts += 1;
    write(out, json);
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

function namesOf(schema: DescMessage): Pick<MessageWriter, "schema" | "typeUrl" | "urlField"> {
  const typeUrl = `${typeUrlPrefix}${schema.typeName}`;
  const { length } = typeUrl;
  const head = length < 0x80 ? [0x0a, length] : [0x0a, (length % 0x80) | 0x80, Math.floor(length / 0x80)];
  return { schema, typeUrl, urlField: Buffer.concat([Buffer.from(head), Buffer.from(typeUrl)]) };
}

/** All writers are created here, so that they share one hidden class: the field writers call many of them. */
function writerOf(
  { schema, typeUrl, urlField }: ReturnType<typeof namesOf>,
  write: WriteMessage,
  writeTyped: WriteMessage,
): MessageWriter {
  return { schema, typeUrl, urlField, write, writeTyped };
}

/** The value of a message with its own JSON form, in an object with `"@type"`. */
function valueIn(json: unknown): unknown {
  return isObject(json) && Object.keys(json).length === 2 && Object.hasOwn(json, "value") ? json.value : giveUp();
}
