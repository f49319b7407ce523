import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import type { XdskitErrorCode } from "../errors/error-codes.js";
import { type Finding, XdskitError } from "../errors/errors.js";
import { type FieldStep, formatFieldPath } from "../errors/field-path.js";
import { throwIfAny } from "../errors/throw-if-any.js";
import { readJsonMessage } from "../json/json-message.js";
import { parseJson } from "../json/json-source.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import { decodeText } from "../text/file-text.js";
import { parseYaml } from "../yaml/yaml-source.js";

/** A file with one JSON or YAML value that knows the line of each part. */
export interface PlacedDocument {
  /** Null for an empty file. */
  readonly value: JsonValue;
  /** An error about the part at these steps. The message must not contain anything that may be a secret. */
  error(code: XdskitErrorCode, message: string, steps: readonly (string | number)[]): XdskitError;
  /**
   * Reads a part as a message, by the JSON mapping. `part` is the value to read, if it is not the whole value at the
   * steps. Throws an XdskitError with a finding for each invalid field.
   */
  message<Desc extends DescMessage>(
    schema: Desc,
    part: JsonValue,
    steps: readonly (string | number)[],
    registry?: Registry,
  ): MessageShape<Desc>;
}

/**
 * Reads a file of a known form: YAML (which includes JSON), or JSON only. Throws an XdskitError (XDSKIT_SYNTAX) with
 * the line.
 */
export function readDocument(bytes: Uint8Array, file: string, form: "json" | "yaml"): PlacedDocument {
  const text = decodeText(bytes, form);
  const findingAt = (code: XdskitErrorCode, message: string, offset: number): Finding => {
    return { code, severity: "error", message, file, ...text.at(offset) };
  };
  const { documents, problems } =
    text.problem !== undefined
      ? { documents: [], problems: [text.problem] }
      : form === "json"
        ? parseJson(text.text)
        : parseYaml(text.text);
  const found = problems.map(({ message, offset }) => findingAt("XDSKIT_SYNTAX", message, offset));
  throwIfAny(found);
  const [document, second] = documents;
  if (second !== undefined) {
    throw new XdskitError([findingAt("XDSKIT_SYNTAX", "a second document: there must be one", second.offset)]);
  }
  const placed = (code: XdskitErrorCode, message: string, steps: readonly FieldStep[]): Finding => {
    const finding = findingAt(code, message, document?.locate(steps) ?? 0);
    return { ...finding, field: formatFieldPath(steps) };
  };
  return {
    value: document?.value ?? null,
    error: (code, message, steps) => new XdskitError([placed(code, message, steps)]),
    message(schema, part, steps, registry = envoyRegistry()) {
      const read = readJsonMessage(schema, part, registry);
      if (read.kind === "message") return read.message as MessageShape<typeof schema>;
      throwIfAny(read.problems.map((problem) => placed(problem.code, problem.message, [...steps, ...problem.steps])));
      throw new XdskitError([placed("XDSKIT_FIELD_INVALID", "cannot be read", steps)]);
    },
  };
}
