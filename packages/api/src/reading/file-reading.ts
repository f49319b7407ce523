import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { XdskitErrorCode } from "../errors/error-codes.js";
import { type Finding, type Where, XdskitError } from "../errors/errors.js";
import { type FieldStep, formatFieldPath } from "../errors/field-path.js";
import { hasErrors } from "../errors/findings.js";
import { maxErrors } from "../errors/limits.js";
import { makePlace } from "../errors/make-place.js";
import { createUnpack } from "../messages/any.js";
import { typeNameOf } from "../names/identifiers.js";
import { leftOutSecrets } from "../redact/left-out-secrets.js";
import type { Reference } from "../references/reference.js";
import { stepsToReference } from "../references/references.js";
import type { Registry } from "../registry/registry.js";
import type { ResourceTypes } from "../resource-types/resource-type.js";
import { createResource, type Resource } from "../resources/resource.js";
import { keyOf } from "../resources/variant.js";
import type { Wrapping } from "../resources/wrapping.js";
import { checkMessage, type RuleProblem } from "../validate/validate-message.js";
import type { AdoptionRecord } from "./adoption-record.js";

/** A resource and its place in the file. */
export interface PositionedResource {
  readonly resource: Resource;
  readonly where: Where;
  /** The field that names another resource. Only if `places` was requested. */
  readonly whereNamed?: ((reference: Reference) => Where) | undefined;
  /** The field at these steps, also through `Any`s. Only if `places` was requested. */
  readonly whereField?: ((steps: readonly FieldStep[]) => Where) | undefined;
}

/** The options and results that all readers of one file share. */
export interface FileReading {
  readonly path: string;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  readonly validate: boolean;
  /** Whether to report values that Envoy itself refuses. */
  readonly envoy: boolean;
  /** Whether to search fields for `[redacted]` instead of a secret. */
  readonly mayLeaveOutSecrets: boolean;
  /** Whether resources can say where they name others. */
  readonly places: boolean;
  /** Whether strings may be views of the file's text. Those from `JSON.parse` are not. */
  readonly views: boolean;
  readonly resources: PositionedResource[];
  readonly findings: Finding[];
  /** The number of errors, told or not. */
  errors: number;
  /** The parts that were taken from other forms, such as a bootstrap. */
  readonly adoptions: AdoptionRecord[];
  /** The `version_info` of the last response. */
  version: string;
}

/** A part of a file, such as a resource, and the positions of its fields. */
export interface FilePart {
  /** Its type URL in the file. */
  readonly typeUrl?: string | undefined;
  readonly resource?: string | undefined;
  /** Whether it is part of a dump by a program that hides secrets. */
  readonly isDump?: boolean | undefined;
  /** The line and column of a field; without steps, of the thing itself. Undefined if the file has no lines. */
  readonly at: (steps: readonly FieldStep[]) => { readonly line: number; readonly column: number } | undefined;
}

/** Reports a problem. An expensive message is passed as a function: beyond the limit it is not called. */
export function addFinding(
  reading: FileReading,
  part: FilePart,
  code: XdskitErrorCode,
  message: string | (() => string),
  steps: readonly FieldStep[] = [],
  rule?: string,
  severity: Finding["severity"] = "error",
): void {
  countErrors(reading, part, severity, steps);
  if (!makePlace(reading.findings, severity)) return;
  const text = typeof message === "string" ? message : message();
  reading.findings.push({ code, severity, message: text, ...whereOf(reading, part, steps), rule });
}

/** Thrown where a file has more errors than anybody corrects: what follows is not read. */
class TooManyErrors extends Error {
  readonly at: FilePart["at"];

  constructor(at: FilePart["at"]) {
    super(`more than ${maxErrors} errors: what follows here is not read`);
    this.at = at;
  }
}

function countErrors(
  reading: FileReading,
  part: FilePart,
  severity: Finding["severity"],
  steps: readonly FieldStep[],
): void {
  if (severity !== "error") return;
  reading.errors += 1;
  if (reading.errors > maxErrors) throw new TooManyErrors(() => part.at(steps));
}

/** Tells where reading stopped for too many errors, in the place of the last one. Throws any other error. */
export function stopReading(reading: FileReading, error: unknown): void {
  if (!(error instanceof TooManyErrors)) throw error;
  reading.errors = 0;
  reading.findings.pop();
  // Without the resource: it is the whole file that is not known.
  addFinding(reading, { at: error.at }, "XDSKIT_SYNTAX", error.message);
}

function problemsOf(reading: FileReading, schema: DescMessage, message: Message): readonly RuleProblem[] {
  return reading.validate ? checkMessage(schema, message, reading.registry, undefined, reading) : [];
}

function addProblems(reading: FileReading, part: FilePart, problems: readonly RuleProblem[]): void {
  for (const { code, message, steps, rule, severity } of problems)
    addFinding(reading, part, code, message, steps, rule, severity);
}

/** Whether a message breaks rules; what is wrong is then reported. */
export function isRefused(reading: FileReading, part: FilePart, schema: DescMessage, message: Message): boolean {
  const problems = problemsOf(reading, schema, message);
  if (!hasErrors(problems)) return false;
  addProblems(reading, part, problems);
  return true;
}

/** Checks a message and adds it as a resource. */
export function addResource(
  reading: FileReading,
  part: FilePart,
  schema: DescMessage,
  message: Message,
  wrapping: Wrapping,
): void {
  if (wrapping.problem !== undefined) {
    addFinding(reading, part, "XDSKIT_CONSTRAINTS", wrapping.problem);
    return;
  }
  const problems = problemsOf(reading, schema, message);
  addProblems(reading, part, problems);
  if (hasErrors(problems)) return;
  if (reading.mayLeaveOutSecrets) {
    const fields = leftOutSecrets(schema, message, createUnpack(reading.registry));
    // A dump never contains secrets. Its other resources can still be served.
    const [text, severity] = part.isDump ? ([leftOutOfDump, "warning"] as const) : ([leftOut, "error"] as const);
    for (const steps of fields) addFinding(reading, part, "XDSKIT_SECRET_LEFT_OUT", text, steps, undefined, severity);
    if (fields.length > 0) return;
  }
  try {
    const made = createResource(message, { registry: reading.registry, types: reading.types, ...wrapping });
    const own = made.type.nameOf(message);
    if (own !== undefined && own !== made.name) {
      const text = `its own name is not that of the wrapper, ${JSON.stringify(made.name)}: clients may refuse it, or be unable to remove it`;
      const field = schema.fields.find(({ name }) => name === "name" || name === "cluster_name");
      const steps = field === undefined ? [] : [field.name];
      addFinding(reading, part, "XDSKIT_NAME_DIFFERS", text, steps, undefined, "warning");
    }
    const resource = reading.views ? detached(made) : made;
    const named: FilePart = { ...part, resource: resource.name };
    const whereField = (steps: readonly FieldStep[]) => whereOf(reading, named, steps);
    const whereNamed = (reference: Reference) =>
      whereField(stepsToReference(schema, message, createUnpack(reading.registry), reference));
    const where = whereOf(reading, named, []);
    // These functions would keep the file in memory.
    reading.resources.push(reading.places ? { resource, where, whereNamed, whereField } : { resource, where });
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    for (const finding of error.findings) {
      countErrors(reading, part, finding.severity, []);
      if (!makePlace(reading.findings, finding.severity)) continue;
      const steps = finding.code === "XDSKIT_NAME_XDSTP" ? stepsToName(schema, message, finding.resource) : [];
      reading.findings.push({ ...finding, ...defined(whereOf(reading, part, steps)) });
    }
  }
}

const leftOut = 'is "[redacted]", which stands in the place of a secret that was left out';
const leftOutOfDump = `${leftOut}: the resource is not served`;

/** The steps to the field with the message's own name; none if a wrapper gives it another name. */
function stepsToName(schema: DescMessage, message: Message, name: string | undefined): readonly FieldStep[] {
  const field = schema.fields.find(({ name }) => name === "name" || name === "cluster_name");
  if (field === undefined || name === undefined) return [];
  return (message as Message & { readonly [field: string]: unknown })[field.localName] === name ? [field.name] : [];
}

/**
 * The same resource with its own strings. A string that our parsers or YAML's cut out of a text is a view: one name
 * would keep a whole file in memory as long as its resource lives.
 */
export function detached(resource: Resource): Resource {
  const { type, version, body, aliases, variant, ttl, references } = resource;
  const name = copied(resource.name);
  return {
    type,
    name,
    key: keyOf(name, variant),
    version,
    body,
    aliases: aliases.length === 0 ? aliases : aliases.map(copied),
    variant,
    ttl,
    references:
      references.length === 0 ? references : references.map(({ type, name }) => ({ type, name: copied(name) })),
  };
}

/** The same text, but not a view of another. */
export function copied(text: string): string {
  return Buffer.from(text).toString();
}

function whereOf(reading: FileReading, part: FilePart, steps: readonly FieldStep[]): Where {
  const { typeUrl, resource } = part;
  const type = typeUrl === undefined ? undefined : shownType(reading, typeUrl);
  return { file: reading.path, ...part.at(steps), field: formatFieldPath(steps), resource, type };
}

/** The name of a type in findings. */
export function shownType({ types }: Pick<FileReading, "types">, typeUrl: string): string {
  return types.byTypeUrl(typeUrl)?.type.name ?? typeNameOf(typeUrl);
}

function defined(where: Where): Where {
  return Object.fromEntries(Object.entries(where).filter(([, value]) => value !== undefined));
}
