import { type DescField, type DescMessage, type Registry, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { perRegistry } from "../per-registry.js";
import { jsonReferenceKeys, jsonReferenceRule } from "../references/json-rules.js";
import { jsonCheckKeys, jsonCheckOf } from "../validate/json-checks.js";
import { holdsAddress, resolvingFields } from "../validate/refused/fast.js";
import { createMemo } from "./memo.js";
import {
  createReadMessage,
  type Reader,
  type ReadMessage,
  readList,
  readOne,
  readRemembered,
  readText,
} from "./message-reader.js";
import { isUnread, membersOf, mutesOf, writersOf } from "./message-writer.js";
import { createShapes, type Member, type ReadField } from "./shape.js";

/** The readers of the messages of one registry, out of the text of JSON: made as they are needed, and kept as long as it. */
export interface Readers {
  /** Of resources, which say their type. What they return has the field by which they call themselves, and those of `resolvingFields`. */
  readonly typed: (schema: DescMessage, nameField: DescField) => Reader | undefined;
}

export const readersOf = perRegistry(createReaders);

function createReaders(registry: Registry): Readers {
  const writers = writersOf(registry);
  const readable = new WeakMap<DescMessage, (() => ReadMessage) | false>();

  /** Undefined where a message can be read only once it is a value: its rules look at all of it, or it has a form of its own. */
  function compile(schema: DescMessage, typed: boolean, names: readonly string[]): (() => Reader) | undefined {
    const reference = jsonReferenceRule(schema);
    const check = jsonCheckOf(schema.typeName);
    if (reference === "unknown" || check === "unknown" || isUnread(schema)) return undefined;
    const checked = check === undefined ? [] : jsonCheckKeys(schema.typeName);
    const referring = reference === undefined ? [] : jsonReferenceKeys(schema);
    if (checked === undefined || referring === undefined) return undefined;
    const kept = new Set([...checked, ...referring, ...names]);
    return once(() => {
      const shapes = createShapes(membersOf(schema, registry, writers.of), typed);
      const read = createReadMessage(shapes, { check, reference, kept, mutes: mutesOf(schema) }, readOf);
      return { read, check, reference };
    });
  }

  function messageOf(schema: DescMessage): (() => ReadMessage) | undefined {
    let known = readable.get(schema);
    if (known === undefined) {
      const reader = compile(schema, false, []);
      known = reader === undefined ? false : once(() => reader().read);
      readable.set(schema, known);
    }
    return known === false ? undefined : known;
  }

  function readOf(member: Member): ReadField {
    member.read = createReadField(member) ?? readRemembered(member, createMemo());
    return member.read;
  }

  function createReadField({ field, check, write }: Member): ReadField | undefined {
    switch (field.fieldKind) {
      case "scalar":
        // What is noted is looked at.
        if (holdsAddress(field.parent.typeName, field.name)) return undefined;
        return field.scalar === ScalarType.STRING && (check?.whole === undefined || check.nonEmpty)
          ? readText(field, write)
          : undefined;
      case "message": {
        const message = isWrapperDesc(field.message) ? undefined : messageOf(field.message);
        return message === undefined || check?.whole !== undefined ? undefined : readOne(field.number, message);
      }
      case "list": {
        const message = field.listKind === "message" ? messageOf(field.message) : undefined;
        if (message === undefined || check?.items !== undefined) return undefined;
        return readList(field.number, message, keepsLength(check?.whole));
      }
      default:
        return undefined;
    }
  }

  const typed = new WeakMap<DescField, Reader>();
  return {
    typed(schema, nameField) {
      const known = typed.get(nameField);
      if (known !== undefined) return known;
      const names = [nameField.name, nameField.jsonName, ...resolvingFields(schema.typeName)];
      const reader = compile(schema, true, names)?.();
      if (reader !== undefined) typed.set(nameField, reader);
      return reader;
    },
  };
}

/** Whether a list of messages, which are never equal, may have so many. */
function keepsLength(check: ((value: unknown) => unknown) | undefined): (count: number) => boolean {
  if (check === undefined) return () => true;
  let last = -1;
  return (count) => {
    if (count === last) return true;
    const keeps = check(Array.from({ length: count }, (_, index) => index)) === undefined;
    if (keeps) last = count;
    return keeps;
  };
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
