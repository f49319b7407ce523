import type { DescField, DescMessage, Registry } from "@bufbuild/protobuf";
import { fromText } from "@bufbuild/protobuf/txtpb";
import { type FieldPath, stepInto, stepsOf } from "../errors/field-path.js";
import type { FieldProblem } from "../errors/field-problem.js";
import { messageOf } from "../errors/findings.js";
import { maxFindings } from "../errors/limits.js";
import { didYouMean } from "../errors/nearest-name.js";
import { unknownTypeMessage } from "../messages/unknown-type.js";
import { typeNameOf } from "../names/identifiers.js";
import type { TextField, TextMessage, TextValue } from "./text-tree.js";

/** A problem with the offset of its field or value. */
export interface TextFieldProblem extends FieldProblem {
  readonly offset: number;
}

/**
 * All problems of a well-formed text as a message of a schema, field by field. Slow: run it only after the real reader
 * has refused.
 */
export function explainText(
  schema: DescMessage,
  message: TextMessage,
  registry: Registry,
): readonly TextFieldProblem[] {
  const explanation = new TextExplanation(registry);
  explanation.message(schema, message, undefined);
  return explanation.problems;
}

class TextExplanation {
  readonly problems: TextFieldProblem[] = [];
  private readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  private add(
    path: FieldPath | undefined,
    offset: number,
    message: string,
    code: FieldProblem["code"] = "XDSKIT_FIELD_INVALID",
  ): void {
    if (this.problems.length < maxFindings) this.problems.push({ code, steps: stepsOf(path), message, offset });
  }

  message(schema: DescMessage, { fields }: TextMessage, path: FieldPath | undefined): void {
    const counts = new Map<DescField, number>();
    const oneofs = new Map<string, string>();
    for (const field of fields) {
      if (this.problems.length >= maxFindings) return;
      if (field.name.startsWith("[")) {
        if (fields.length > 1 && schema.typeName === "google.protobuf.Any") {
          this.add(path, field.offset, "an Any has nothing beside its content in [type URL] { }");
        }
        this.any(schema, field, path);
        continue;
      }
      const known = schema.fields.find(({ name }) => name === field.name);
      if (known === undefined) {
        // The reader skips the names of removed fields.
        if (schema.proto.reservedName.includes(field.name)) continue;
        const hint = didYouMean(
          field.name,
          schema.fields.map(({ name }) => name),
        );
        this.add(
          stepInto(path, field.name),
          field.offset,
          `${schema.typeName} has no such field${hint}`,
          "XDSKIT_FIELD_UNKNOWN",
        );
        continue;
      }
      const count = counts.get(known) ?? 0;
      counts.set(known, count + field.values.length);
      const at = stepInto(path, known.name);
      const before = known.oneof === undefined ? undefined : oneofs.get(known.oneof.name);
      if (before !== undefined && before !== known.name) {
        this.add(at, field.offset, `only one of ${before} and ${known.name} may be set`);
      } else if (count > 0 && known.fieldKind !== "list" && known.fieldKind !== "map") {
        this.add(at, field.offset, "is there twice");
      }
      if (known.oneof !== undefined) oneofs.set(known.oneof.name, known.name);
      this.field(schema, known, field, at, count);
    }
  }

  private field(schema: DescMessage, known: DescField, field: TextField, path: FieldPath, before: number): void {
    if (field.list && known.fieldKind !== "list" && known.fieldKind !== "map") {
      this.add(path, field.offset, "is not repeated: expected one value, found a list");
      return;
    }
    if (known.message === undefined && known.fieldKind !== "map" && !field.colon) {
      this.add(path, field.offset, missingColon);
      return;
    }
    for (const [index, value] of field.values.entries()) {
      const at = known.fieldKind === "list" ? stepInto(path, before + index) : path;
      if (known.message !== undefined && known.fieldKind !== "map") this.messageValue(known.message, value, at);
      else this.value(schema, known, value, at);
    }
  }

  private messageValue(schema: DescMessage, value: TextValue, path: FieldPath): void {
    if (value.kind === "message") this.message(schema, value.message, path);
    else this.add(path, value.offset, `expected a message (${schema.typeName}) in { }, found a scalar`);
  }

  /** A scalar, an enum value or a map entry. */
  private value(schema: DescMessage, known: DescField, value: TextValue, path: FieldPath): void {
    if (known.fieldKind === "map") {
      if (value.kind === "scalar") this.add(path, value.offset, "expected an entry: { key: … value: … }");
      else this.entry(known, value.message, path, value.offset);
    } else if (value.kind === "message") {
      this.add(path, value.offset, "expected a scalar, found a message");
    } else {
      const reason = refusal(() => fromText(schema, `${known.name}: ${value.source}`));
      if (reason !== undefined) this.add(path, value.offset, reason);
    }
  }

  private entry(known: DescField & { fieldKind: "map" }, entry: TextMessage, path: FieldPath, offset: number): void {
    const key = entry.fields.find(({ name }) => name === "key")?.values[0];
    const at = stepInto(path, { key: key?.kind === "scalar" ? key.source.replaceAll(/^["']|["']$/g, "") : "" });
    for (const field of entry.fields) {
      const [value] = field.values;
      if (field.name !== "key" && field.name !== "value") {
        this.add(at, field.offset, "an entry of a map has key and value only", "XDSKIT_FIELD_UNKNOWN");
      } else if (field.name === "value" && known.message !== undefined && value !== undefined) {
        this.messageValue(known.message, value, at);
      } else if (!field.colon) {
        this.add(at, field.offset, missingColon);
      } else if (value?.kind === "scalar") {
        const reason = refusal(() => fromText(known.parent, `${known.name} { ${field.name}: ${value.source} }`));
        if (reason !== undefined) this.add(at, field.offset, reason);
      } else {
        this.add(at, offset, "expected a scalar");
      }
    }
  }

  private any(schema: DescMessage, field: TextField, path: FieldPath | undefined): void {
    const url = field.name.slice(1, -1);
    const [value] = field.values;
    if (schema.typeName !== "google.protobuf.Any") {
      this.add(
        stepInto(path, field.name),
        field.offset,
        `${schema.typeName} has no such extension`,
        "XDSKIT_FIELD_UNKNOWN",
      );
      return;
    }
    const content = this.registry.getMessage(typeNameOf(url));
    if (content === undefined)
      this.add(path, field.offset, unknownTypeMessage(url, this.registry), "XDSKIT_TYPE_UNKNOWN");
    else if (value?.kind === "message") this.message(content, value.message, path);
    else this.add(path, field.offset, "expected a message in { }");
  }
}

const missingColon = "lacks the colon between name and value";

/** Why the reader refuses a value, without the value; undefined if it accepts it. */
function refusal(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return refusalReason(error);
  }
}

/** The reader's message without the value in it. */
export function refusalReason(error: unknown): string {
  const message = messageOf(error);
  const reason = /from text format: (.*)$/s.exec(message)?.[1] ?? message;
  return reason.replaceAll(/, got .*$|: "[^"]*"$/gs, "");
}
