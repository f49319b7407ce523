import { create, type DescMessage, type Message, type Registry } from "@bufbuild/protobuf";
import { mergeFromText } from "@bufbuild/protobuf/txtpb";
import type { FieldStep } from "../errors/field-path.js";
import { withV2Names } from "../messages/v2-names-registry.js";
import { perObject } from "../names/per-object.js";
import { addFinding, type FileReading } from "../reading/file-reading.js";
import { readResponse, responseSchema } from "../reading/message-items.js";
import type { FileText } from "../text/file-text.js";
import { explainText, refusalReason } from "./text-explain.js";
import { parseTextTree, type TextField, type TextMessage, TextProblem, type TextValue } from "./text-tree.js";

/** Reads a `DiscoveryResponse` in the protobuf text format. */
export function readTextFormat(reading: FileReading, file: FileText): void {
  const schema = responseSchema(reading);
  const registry = withV2Names(reading.registry);
  let tree: TextMessage;
  try {
    tree = parseTextTree(file.text);
  } catch (error) {
    if (!(error instanceof TextProblem)) throw error;
    addFinding(reading, { at: () => file.at(error.offset) }, "XDSKIT_SYNTAX", error.message);
    return;
  }
  let response: Message;
  try {
    response = responseOf(schema, file.text, tree, registry);
  } catch (error) {
    const problems = explainText(schema, tree, registry);
    for (const { code, message, steps, offset } of problems) {
      addFinding(reading, { at: () => file.at(offset) }, code, message, steps);
    }
    if (problems.length === 0) {
      addFinding(reading, { at: () => file.at(0) }, "XDSKIT_SYNTAX", refusalReason(error));
    }
    return;
  }
  readResponse(reading, response, (steps) => file.at(locateInText(tree, steps)));
}

/** One resource after the other: the library needs some 700 bytes for each field of a text. */
function responseOf(schema: DescMessage, text: string, { fields }: TextMessage, registry: Registry): Message {
  const response = create(schema);
  let others = "";
  for (const [index, { name, offset }] of fields.entries()) {
    const source = text.slice(offset, fields[index + 1]?.offset);
    if (name === "resources") mergeFromText(schema, response, source, { registry });
    else others += source;
  }
  return mergeFromText(schema, response, others, { registry });
}

/** The offset of the field at these steps, or of the last one on the way that exists. */
function locateInText(tree: TextMessage, steps: readonly FieldStep[]): number {
  let message: TextMessage | undefined = tree;
  let offset = 0;
  for (let at = 0; at < steps.length && message !== undefined; at++) {
    const occurrences = occurrencesIn(expanded(message)).get(String(steps[at]));
    const [first] = occurrences ?? [];
    if (first === undefined) return offset;
    offset = first.field.offset;
    const next = steps[at + 1];
    let value: TextValue | undefined = first.value;
    if (typeof next === "number" || typeof next === "object") {
      const found =
        typeof next === "number" ? occurrences?.[next] : occurrences?.find((one) => keyOfEntry(one.value) === next.key);
      if (found === undefined) return offset;
      value = found.value;
      offset = found.field.list ? value.offset : found.field.offset;
      at++;
      if (typeof next === "object") value = entryValue(value);
    }
    message = value?.kind === "message" && at + 1 < steps.length ? value.message : undefined;
  }
  return offset;
}

interface Occurrence {
  readonly field: TextField;
  readonly value: TextValue;
}

/**
 * The values of a message's fields by field name. Made once per message, since each of a response's thousands of
 * resources is looked up.
 */
const occurrencesIn = perObject(({ fields }: TextMessage): ReadonlyMap<string, readonly Occurrence[]> => {
  const byName = new Map<string, Occurrence[]>();
  for (const field of fields) {
    const list = byName.get(field.name) ?? [];
    byName.set(field.name, list);
    for (const value of field.values) list.push({ field, value });
  }
  return byName;
});

/** The content of an `Any` in its place. */
function expanded(message: TextMessage): TextMessage {
  const [first] = message.fields;
  const value = first?.name.startsWith("[") ? first.values[0] : undefined;
  return value?.kind === "message" ? value.message : message;
}

function keyOfEntry(entry: TextValue): string | undefined {
  const key = entry.kind === "message" ? entry.message.fields.find(({ name }) => name === "key")?.values[0] : undefined;
  return key?.kind === "scalar" ? key.source.replaceAll(/^["']|["']$/g, "") : undefined;
}

function entryValue(entry: TextValue): TextValue | undefined {
  return entry.kind === "message" ? entry.message.fields.find(({ name }) => name === "value")?.values[0] : undefined;
}
