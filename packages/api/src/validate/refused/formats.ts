import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import type { Value } from "@bufbuild/protobuf/wkt";
import type { KeyValueMutation } from "@xdskit/api/envoy/config/core/v3/base";
import type { SubstitutionFormatString } from "@xdskit/api/envoy/config/core/v3/substitution_format_string";
import type { FileAccessLog } from "@xdskit/api/envoy/extensions/access_loggers/file/v3/file";
import type { FluentdAccessLogConfig } from "@xdskit/api/envoy/extensions/access_loggers/fluentd/v3/fluentd";
import type { OpenTelemetryAccessLogConfig } from "@xdskit/api/envoy/extensions/access_loggers/open_telemetry/v3/logs_service";
import type { AnyValue, KeyValueList } from "@xdskit/api/opentelemetry/proto/common/v1/common";
import type { FieldStep } from "../../errors/field-path.js";
import { didYouMean } from "../../errors/nearest-name.js";
import { shortened } from "../../errors/shortened.js";
import { formatCommands } from "../values/format-commands.js";
import type { SpecialProblem } from "./problem.js";
import { none, refused, within } from "./problem.js";

/** A percent sign begins a command, and another one ends it. Two in a row mean a literal one. */
const percent = /%%|%([A-Z0-9_]+)(?:\((.*?)\))?(:\d+)?%|%/gs;

/** What is wrong with a format string: headers, logs and all other places have the same commands. */
function formatProblems(text: string, steps: readonly FieldStep[]): readonly SpecialProblem[] {
  if (!text.includes("%")) return none;
  for (const match of text.matchAll(percent)) {
    const [found, command] = match;
    if (found === "%") {
      const message = 'has a "%" that begins no command such as %PROTOCOL%; "%%" stands for one';
      return [{ ...refused(steps, message), command: "" }];
    }
    const wrong = command === undefined ? undefined : commandProblem(command, match);
    if (wrong !== undefined) return [{ ...refused(steps, `has ${wrong}`), command }];
  }
  return none;
}

/** What is wrong with one command. */
function commandProblem(command: string, [found, , parameters = "", length = ""]: RegExpExecArray): string | undefined {
  const known = formatCommands.get(command);
  if (known === undefined) {
    const shown = command.slice(0, 60);
    return `%${shown}%, which is no command of Envoy 1.40${didYouMean(shown, formatCommands.keys())}`;
  }
  const { form } = known;
  const wrong = !known.parameters.test(parameters)
    ? parameters === ""
      ? "needs parameters"
      : `takes no ${form === "" ? "" : "such "}parameters`
    : length !== "" && !form.endsWith(":N") && "takes no length";
  return wrong === false
    ? undefined
    : `${shortened(found)}, but ${command} ${wrong}: it is written %${command}${form}%`;
}

/** The same for all texts in JSON. */
function jsonProblems(json: unknown, steps: readonly FieldStep[]): readonly SpecialProblem[] {
  if (typeof json === "string") return formatProblems(json, steps);
  if (typeof json !== "object" || json === null) return none;
  return Array.isArray(json)
    ? json.flatMap((item, index) => jsonProblems(item, [...steps, index]))
    : Object.entries(json).flatMap(([key, item]) => jsonProblems(item, [...steps, { key }]));
}

/** SubstitutionFormatString: a log, or the body of a response. */
export function substitutionProblems({ format }: SubstitutionFormatString): readonly SpecialProblem[] {
  if (format.case === "textFormat") return formatProblems(format.value, ["text_format"]);
  if (format.case === "jsonFormat") return jsonProblems(format.value, ["json_format"]);
  const { specifier } = format.value ?? {};
  if (specifier?.case !== "inlineString") return none;
  return formatProblems(specifier.value, ["text_format_source", "inline_string"]);
}

/** FileAccessLog: the forms of before. */
export function fileLogProblems({ accessLogFormat: format }: FileAccessLog): readonly SpecialProblem[] {
  if (format.case === "format") return formatProblems(format.value, ["format"]);
  if (format.case === "jsonFormat") return jsonProblems(format.value, ["json_format"]);
  return format.case === "typedJsonFormat" ? jsonProblems(format.value, ["typed_json_format"]) : none;
}

/** FluentdAccessLogConfig */
export function fluentdLogProblems({ record }: FluentdAccessLogConfig): readonly SpecialProblem[] {
  return jsonProblems(record, ["record"]);
}

/** OpenTelemetryAccessLogConfig */
export function openTelemetryLogProblems({
  body,
  attributes,
}: OpenTelemetryAccessLogConfig): readonly SpecialProblem[] {
  return [...valueProblems(body, ["body"]), ...listProblems(attributes, ["attributes"])];
}

function valueProblems(any: AnyValue | undefined, steps: readonly FieldStep[]): readonly SpecialProblem[] {
  const { value } = any ?? {};
  if (value?.case === "stringValue") return formatProblems(value.value, [...steps, "string_value"]);
  if (value?.case === "kvlistValue") return listProblems(value.value, [...steps, "kvlist_value"]);
  if (value?.case !== "arrayValue") return none;
  return value.value.values.flatMap((item, index) => valueProblems(item, [...steps, "array_value", "values", index]));
}

function listProblems(list: KeyValueList | undefined, steps: readonly FieldStep[]): readonly SpecialProblem[] {
  return (list?.values ?? []).flatMap(({ value }, index) => valueProblems(value, [...steps, "values", index, "value"]));
}

/** KeyValueMutation: a parameter of a query to add. */
export function mutationProblems({ append }: KeyValueMutation): readonly SpecialProblem[] {
  // Where files are read in one pass, a value is plain JSON.
  const value: unknown = append?.record?.value;
  const { kind } = Object(value) as Partial<Value>;
  const text = kind?.case === "stringValue" ? kind.value : value;
  return typeof text === "string" ? formatProblems(text, ["append", "record", "value"]) : none;
}

/**
 * Fields that are formats as a whole, by their names in protos, or by paths of names: through messages, lists, and
 * oneofs, which have names too.
 */
export function formatsIn(...paths: readonly string[]): (message: object) => readonly SpecialProblem[] {
  const found = paths.map((path) => path.split(".").map((name) => ({ name, local: protoCamelCase(name) })));
  return (message) => {
    const problems: SpecialProblem[] = [];
    for (const path of found) for (const problem of formatsBelow(message, path, 0)) problems.push(problem);
    return problems;
  };
}

interface Named {
  readonly name: string;
  readonly local: string;
}

/** Most have no problem, so steps are put together only on the way back. */
function formatsBelow(value: unknown, path: readonly Named[], at: number): readonly SpecialProblem[] {
  const step = path[at];
  if (step === undefined) return typeof value === "string" ? formatProblems(value, []) : none;
  if (typeof value !== "object" || value === null) return none;
  if (Array.isArray(value)) return value.flatMap((item, index) => within(formatsBelow(item, path, at), index));
  const inner = (value as { readonly [field: string]: unknown })[step.local];
  const chosen = path[at + 1];
  if (chosen === undefined || !isOneof(inner)) return within(formatsBelow(inner, path, at + 1), step.name);
  return inner.case === chosen.local ? within(formatsBelow(inner.value, path, at + 2), chosen.name) : none;
}

function isOneof(value: unknown): value is { readonly case: string | undefined; readonly value?: unknown } {
  return typeof value === "object" && value !== null && "case" in value;
}
