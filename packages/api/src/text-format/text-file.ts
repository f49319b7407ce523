import type { Message } from "@bufbuild/protobuf";
import { fromText } from "@bufbuild/protobuf/txtpb";
import type { FieldStep } from "../field-path.js";
import { addFinding, type FileReading } from "../file-reading.js";
import type { FileText } from "../file-text.js";
import { readResponse, responseSchema } from "../message-items.js";
import { withV2Names } from "../v2-names-registry.js";
import { explainText, refusalReason } from "./text-explain.js";
import { parseTextTree, type TextMessage, TextProblem, type TextValue } from "./text-tree.js";

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
    response = fromText(schema, file.text, { registry });
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

/** The offset of the field that the steps lead to, or of the last one on the way that is there. */
function locateInText(tree: TextMessage, steps: readonly FieldStep[]): number {
  let message: TextMessage | undefined = tree;
  let offset = 0;
  for (let at = 0; at < steps.length && message !== undefined; at++) {
    const content = expanded(message);
    const step = steps[at];
    const fields = content.fields.filter(({ name }) => name === step);
    const [first] = fields;
    if (first === undefined) return offset;
    offset = first.offset;
    const values: readonly TextValue[] = fields.flatMap((field) => field.values);
    const next = steps[at + 1];
    let value = values[0];
    if (typeof next === "number" || typeof next === "object") {
      value = typeof next === "number" ? values[next] : values.find((entry) => keyOf(entry) === next.key);
      if (value === undefined) return offset;
      const own = fields.find((field) => !field.list && field.values[0] === value);
      offset = own?.offset ?? value.offset;
      at++;
      if (typeof next === "object") value = entryValue(value);
    }
    message = value?.kind === "message" ? value.message : undefined;
  }
  return offset;
}

/** The content of an `Any` in the place of the `Any`. */
function expanded(message: TextMessage): TextMessage {
  const [first] = message.fields;
  const value = first?.name.startsWith("[") ? first.values[0] : undefined;
  return value?.kind === "message" ? value.message : message;
}

function keyOf(entry: TextValue): string | undefined {
  const key = entry.kind === "message" ? entry.message.fields.find(({ name }) => name === "key")?.values[0] : undefined;
  return key?.kind === "scalar" ? key.source.replaceAll(/^["']|["']$/g, "") : undefined;
}

function entryValue(entry: TextValue): TextValue | undefined {
  return entry.kind === "message" ? entry.message.fields.find(({ name }) => name === "value")?.values[0] : undefined;
}
