import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { schemaOf, typeNameOf } from "../any.js";
import { type FieldPath, type FieldStep, stepInto, stepsOf } from "../field-path.js";
import { createPlans, type MessagePlan, type Path } from "../message-plan.js";
import type { Registry } from "../registry.js";
import { compareEnvoyVersions, type EnvoyVersion, formatEnvoyVersion } from "./envoy-version.js";
import { isExtensionType } from "./extension-types.js";
import { newestEnvoyVersion, sinceOf, sinceOfMessage } from "./since.js";

/** A part of a message that only newer Envoys know. */
export interface NewerPart {
  /** The way to it, through `Any`s too. */
  readonly steps: readonly FieldStep[];
  /** Envoys ignore fields that they do not know; an extension of an unknown type, or a value that an enum lacks, they reject. */
  readonly kind: "field" | "type" | "value";
  /** What is new: a field's full name, a type's, a value's. */
  readonly name: string;
  readonly since: EnvoyVersion;
}

/** What a person reads of it: `field "stats_matcher" is new in Envoy 1.40`. */
export function describeNewerPart({ kind, name, since }: NewerPart): string {
  const shown = kind === "type" ? name : name.slice(name.lastIndexOf(".") + 1);
  return `${kind} ${JSON.stringify(shown)} is new in Envoy ${formatEnvoyVersion(since)}`;
}

/** How many parts of one message are worth reading. */
const partLimit = 100;
/** Messages are followed to this depth. */
const depthLimit = 64;

/** What a walk does at one field, by its number. */
interface FieldCheck {
  readonly field: DescField;
  readonly since: EnvoyVersion | undefined;
  /** By number, those of its enum that are newer than the enum. */
  readonly values: ReadonlyMap<number, NewValue> | undefined;
}

interface NewValue {
  readonly name: string;
  readonly since: EnvoyVersion;
}

/** By field number: what is new, and where it may be further inside. */
type Checks = ReadonlyMap<number, FieldCheck>;

const planOf = createPlans<Checks>((schema) => schema.typeName === anyName || checksOf(schema).size > 0, checksOf);
const anyName = "google.protobuf.Any";

function checksOf(schema: DescMessage): Checks {
  const checks = new Map<number, FieldCheck>();
  for (const field of schema.fields) {
    const since = sinceOf(`${schema.typeName}.${field.name}`);
    const values = newValues(field);
    if (since !== undefined || values !== undefined) checks.set(field.number, { field, since, values });
  }
  return checks;
}

function newValues({ enum: schema, fieldKind }: DescField): ReadonlyMap<number, NewValue> | undefined {
  // No map of Envoy's has values of an enum.
  if (schema === undefined || fieldKind === "map") return undefined;
  const values = new Map<number, NewValue>();
  for (const { name, number } of schema.values) {
    const fullName = `${schema.typeName}.${name}`;
    const since = sinceOf(fullName);
    if (since !== undefined) values.set(number, { name: fullName, since });
  }
  return values.size === 0 ? undefined : values;
}

/**
 * What of a serialized message an Envoy of this version does not know, at most 100 parts; inside something new nothing more is looked for. A list with new parts counts once.
 * The bytes are looked through without making messages of them, so that a thousand resources cost milliseconds. Bytes that are no such message have no parts.
 */
export function newerParts(
  schema: DescMessage,
  body: Uint8Array,
  version: EnvoyVersion,
  registry: Registry,
): readonly NewerPart[] {
  const parts: NewerPart[] = [];
  walk({ version, registry, part: (part) => parts.length < partLimit && parts.push(part) }, schema, body);
  return parts;
}

/** A configuration of an extension that Envoy lacks. */
export interface MissingExtension {
  readonly steps: readonly FieldStep[];
  /** The full name of the message that configures it. */
  readonly type: string;
  /** Whether the contrib build of Envoy has it. */
  readonly isContrib: boolean;
}

/**
 * The extensions that a serialized message configures and that Envoy, as it is shipped, does not have; at most 100. Types that are not Envoy's are for those to judge who
 * built theirs into an Envoy of their own.
 */
export function missingExtensions(
  schema: DescMessage,
  body: Uint8Array,
  registry: Registry,
): readonly MissingExtension[] {
  const missing: MissingExtension[] = [];
  walk(
    {
      version: newestEnvoyVersion(),
      registry,
      part: () => undefined,
      configured({ typeName, file }, steps) {
        // Whose name is no package of Envoy's is not Envoy's to have.
        if (!/^(contrib\/)?envoy\//.test(file.name) || isExtensionType(typeName) || missing.length >= partLimit) return;
        missing.push({ steps: steps(), type: typeName, isContrib: file.name.startsWith("contrib/") });
      },
    },
    schema,
    body,
  );
  return missing;
}

/** Who hears of what a walk comes by. */
interface Visitor {
  readonly version: EnvoyVersion;
  readonly registry: Registry;
  /** Something newer than the version. */
  readonly part: (part: NewerPart) => void;
  /** The configuration of an extension, of a known type. */
  readonly configured?: (schema: DescMessage, steps: () => readonly FieldStep[]) => void;
}

function walk(visitor: Visitor, schema: DescMessage, body: Uint8Array): void {
  const plan = planOf(schema);
  try {
    new Walk(visitor).message(plan, body, undefined, 0);
  } catch {
    // Whoever reads the message says what is wrong with it.
  }
}

class Walk {
  readonly #visitor: Visitor;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
  }

  message(plan: MessagePlan<Checks>, bytes: Uint8Array, at: FieldPath | undefined, depth: number): void {
    if (depth > depthLimit) return;
    if (plan.schema.typeName === anyName) {
      this.#any(bytes, at, depth);
      return;
    }
    const reader = new BinaryReader(bytes);
    const counts = new Map<number, number>();
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      const check = plan.own.get(number);
      const path = pathOf(plan, number);
      if (check?.since !== undefined && this.#isNewer(check.since)) {
        if (!counts.has(number))
          this.#note(
            "field",
            `${plan.schema.typeName}.${check.field.name}`,
            check.since,
            stepInto(at, check.field.name),
          );
        counts.set(number, 1);
        reader.skip(wireType);
      } else if (check?.values !== undefined && wireType !== WireType.StartGroup) {
        this.#values(check, check.values, reader, wireType, at, counts);
      } else if (path !== undefined && wireType === WireType.LengthDelimited) {
        const index = counts.get(number) ?? 0;
        counts.set(number, index + 1);
        this.#inner(path, reader.bytes(), at, index, depth);
      } else reader.skip(wireType, number);
    }
  }

  #inner(
    { field, shape, plan }: Path<Checks>,
    bytes: Uint8Array,
    at: FieldPath | undefined,
    index: number,
    depth: number,
  ): void {
    const step = stepInto(at, field.name);
    if (shape !== "map") {
      this.message(plan, bytes, shape === "one" ? step : stepInto(step, index), depth + 1);
      return;
    }
    const { key, value } = mapEntry(bytes);
    if (value !== undefined) this.message(plan, value, stepInto(step, { key }), depth + 1);
  }

  #values(
    { field }: FieldCheck,
    values: ReadonlyMap<number, NewValue>,
    reader: BinaryReader,
    wireType: WireType,
    at: FieldPath | undefined,
    counts: Map<number, number>,
  ): void {
    // Of a list, several values may lie in one piece.
    const end = wireType === WireType.LengthDelimited ? reader.uint32() + reader.pos : reader.pos + 1;
    while (reader.pos < end) {
      const index = counts.get(field.number) ?? 0;
      counts.set(field.number, index + 1);
      const value = values.get(reader.int32());
      if (value === undefined || !this.#isNewer(value.since)) continue;
      const step = stepInto(at, field.name);
      this.#note("value", value.name, value.since, field.fieldKind === "list" ? stepInto(step, index) : step);
    }
  }

  #any(bytes: Uint8Array, at: FieldPath | undefined, depth: number): void {
    const { typeUrl, value } = anyParts(bytes);
    const schema = typeUrl === "" ? undefined : schemaOf(typeNameOf(typeUrl), this.#visitor.registry);
    if (schema === undefined) return;
    // That is what Envoy calls the field, wherever an extension may be put.
    if (at?.step === "typed_config") this.#visitor.configured?.(schema, () => stepsOf(at));
    const since = sinceOfMessage(schema.typeName);
    if (since !== undefined && this.#isNewer(since)) this.#note("type", schema.typeName, since, at);
    else this.message(planOf(schema), value, at, depth + 1);
  }

  #isNewer(since: EnvoyVersion): boolean {
    return compareEnvoyVersions(since, this.#visitor.version) > 0;
  }

  #note(kind: NewerPart["kind"], name: string, since: EnvoyVersion, at: FieldPath | undefined): void {
    this.#visitor.part({ kind, name, since, steps: stepsOf(at) });
  }
}

const pathsByNumber = new WeakMap<MessagePlan<Checks>, ReadonlyMap<number, Path<Checks>>>();

function pathOf(plan: MessagePlan<Checks>, number: number): Path<Checks> | undefined {
  let paths = pathsByNumber.get(plan);
  if (paths === undefined) {
    paths = new Map(plan.paths.map((path) => [path.field.number, path]));
    pathsByNumber.set(plan, paths);
  }
  return paths.get(number);
}

/** An entry of a map: field 1 is the key, field 2 the value. */
function mapEntry(bytes: Uint8Array): { readonly key: string; readonly value: Uint8Array | undefined } {
  const reader = new BinaryReader(bytes);
  let key = "";
  let value: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.LengthDelimited) key = reader.string();
    else if (number === 1 && wireType === WireType.Varint) key = String(reader.int64());
    else if (number === 2 && wireType === WireType.LengthDelimited) value = reader.bytes();
    else reader.skip(wireType, number);
  }
  return { key, value };
}

function anyParts(bytes: Uint8Array): { readonly typeUrl: string; readonly value: Uint8Array } {
  const reader = new BinaryReader(bytes);
  let typeUrl = "";
  let value: Uint8Array = new Uint8Array();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.LengthDelimited) typeUrl = reader.string();
    else if (number === 2 && wireType === WireType.LengthDelimited) value = reader.bytes();
    else reader.skip(wireType, number);
  }
  return { typeUrl, value };
}
