import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { AdoptionRecord } from "./adoption/adoption.js";
import { createUnpack, typeNameOf } from "./any.js";
import type { BodyMemory } from "./compiled/body-slabs.js";
import type { XdskitErrorCode } from "./error-codes.js";
import { type Finding, type Where, XdskitError } from "./errors.js";
import { type FieldStep, formatFieldPath } from "./field-path.js";
import { leftOutSecrets } from "./redact/left-out-secrets.js";
import { stepsToReference } from "./references/references.js";
import type { Registry } from "./registry.js";
import { createResource, type Resource } from "./resource.js";
import type { Reference, ResourceTypes } from "./resource-types/resource-type.js";
import { checkMessage } from "./validate/validate-message.js";
import { keyOf } from "./variant.js";
import type { Wrapping } from "./wrapping.js";

/** How many findings of one file are worth reading. */
export const findingLimit = 100;

/** A resource and the place that it was read from. */
export interface PositionedResource {
  readonly resource: Resource;
  readonly where: Where;
  /** The field by which it names another resource; only if `places` was asked for. */
  readonly whereNamed?: ((reference: Reference) => Where) | undefined;
  /** The field that these steps lead to, through `Any`s too; only if `places` was asked for. */
  readonly whereField?: ((steps: readonly FieldStep[]) => Where) | undefined;
}

/** What all readers of one file share: what they may use, and what they found. */
export interface FileReading {
  readonly path: string;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  readonly validate: boolean;
  /** Whether what Envoy refuses by itself is a finding as well. */
  readonly envoy: boolean;
  /** Whether fields may hold `[redacted]` in the place of a secret, so that they are looked through. */
  readonly mayLeaveOutSecrets: boolean;
  /** Whether resources say where they name others. */
  readonly places: boolean;
  /** Whether the strings that are read may be views of the file's text; those that `JSON.parse` makes are not. */
  readonly views: boolean;
  /** Where bodies are put; undefined: in memory of this file's own. */
  readonly bodies?: BodyMemory | undefined;
  readonly resources: PositionedResource[];
  readonly findings: Finding[];
  /** What was taken of parts that are of another form, such as a bootstrap. */
  readonly adoptions: AdoptionRecord[];
  /** The `version_info` of the response that was read last. */
  version: string;
}

/** Something in a file: what it is, and where its fields stand. */
export interface Place {
  /** The type URL that is written there. */
  readonly typeUrl?: string | undefined;
  readonly resource?: string | undefined;
  /** Whether it stands in a dump, which a program wrote that hides secrets. */
  readonly isDump?: boolean | undefined;
  /** The line and column of a field; without steps, of the thing itself. Undefined where a file has no lines. */
  readonly at: (steps: readonly FieldStep[]) => { readonly line: number; readonly column: number } | undefined;
}

/** Notes what is wrong at a place. A message that costs something to put together is a function: beyond the limit it is not called. */
export function addFinding(
  reading: FileReading,
  place: Place,
  code: XdskitErrorCode,
  message: string | (() => string),
  steps: readonly FieldStep[] = [],
  rule?: string,
  severity: Finding["severity"] = "error",
): void {
  if (reading.findings.length >= findingLimit) return;
  const text = typeof message === "string" ? message : message();
  reading.findings.push({ code, severity, message: text, ...whereOf(reading, place, steps), rule });
}

/** Checks a message that was read, and takes it as a resource. */
export function addResource(
  reading: FileReading,
  place: Place,
  schema: DescMessage,
  message: Message,
  wrapping: Wrapping,
): void {
  if (wrapping.problem !== undefined) {
    addFinding(reading, place, "XDSKIT_CONSTRAINTS", wrapping.problem);
    return;
  }
  if (reading.validate) {
    const problems = checkMessage(schema, message, reading.registry, undefined, reading);
    for (const { code, message: text, steps, rule, severity } of problems) {
      addFinding(reading, place, code, text, steps, rule, severity);
    }
    if (problems.some(({ severity }) => severity === "error")) return;
  }
  if (reading.mayLeaveOutSecrets) {
    const fields = leftOutSecrets(schema, message, createUnpack(reading.registry));
    // A dump never has them: what else is in it can be served all the same.
    const [text, severity] = place.isDump ? ([leftOutOfDump, "warning"] as const) : ([leftOut, "error"] as const);
    for (const steps of fields) addFinding(reading, place, "XDSKIT_SECRET_LEFT_OUT", text, steps, undefined, severity);
    if (fields.length > 0) return;
  }
  try {
    const made = createResource(message, { registry: reading.registry, types: reading.types, ...wrapping });
    const own = made.type.nameOf(message);
    if (own !== undefined && own !== made.name) {
      const text = `its own name is not that of the wrapper, ${JSON.stringify(made.name)}: clients may refuse it, or be unable to remove it`;
      const field = schema.fields.find(({ name }) => name === "name" || name === "cluster_name");
      const steps = field === undefined ? [] : [field.name];
      addFinding(reading, place, "XDSKIT_NAME_DIFFERS", text, steps, undefined, "warning");
    }
    const resource = reading.views ? detached(made) : made;
    const named: Place = { ...place, resource: resource.name };
    const whereField = (steps: readonly FieldStep[]) => whereOf(reading, named, steps);
    const whereNamed = (reference: Reference) =>
      whereField(stepsToReference(schema, message, createUnpack(reading.registry), reference));
    const where = whereOf(reading, named, []);
    // A function of the file holds the file.
    reading.resources.push(reading.places ? { resource, where, whereNamed, whereField } : { resource, where });
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    for (const finding of error.findings) {
      if (reading.findings.length >= findingLimit) continue;
      const steps = finding.code === "XDSKIT_NAME_XDSTP" ? stepsToName(schema, message, finding.resource) : [];
      reading.findings.push({ ...finding, ...defined(whereOf(reading, place, steps)) });
    }
  }
}

const leftOut = 'is "[redacted]", which stands in the place of a secret that was left out';
const leftOutOfDump = `${leftOut}: the resource is not served`;

/** The way to the field by which a message calls itself so; none where a wrapper gives it another name. */
function stepsToName(schema: DescMessage, message: Message, name: string | undefined): readonly FieldStep[] {
  const field = schema.fields.find(({ name }) => name === "name" || name === "cluster_name");
  if (field === undefined || name === undefined) return [];
  return (message as Message & { readonly [field: string]: unknown })[field.localName] === name ? [field.name] : [];
}

/**
 * The same resource with strings of its own. What a parser of ours, or of YAML, cuts out of a text is a view of the text: a single name would keep a whole file in memory
 * for as long as its resource lives.
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

/** The same text, which is no view of another. */
export function copied(text: string): string {
  return Buffer.from(text).toString();
}

function whereOf(reading: FileReading, place: Place, steps: readonly FieldStep[]): Where {
  const { typeUrl, resource } = place;
  const type = typeUrl === undefined ? undefined : shownType(reading, typeUrl);
  return { file: reading.path, ...place.at(steps), field: formatFieldPath(steps), resource, type };
}

/** How a type is called that a type URL names. */
export function shownType({ types }: Pick<FileReading, "types">, typeUrl: string): string {
  return types.byTypeUrl(typeUrl)?.type.name ?? typeNameOf(typeUrl);
}

function defined(where: Where): Where {
  return Object.fromEntries(Object.entries(where).filter(([, value]) => value !== undefined));
}
