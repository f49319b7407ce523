import { type DescField, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { type FieldPath, type FieldStep, stepInto, stepsOf } from "../errors/field-path.js";
import { maxFindings } from "../errors/limits.js";
import { isTypedStruct, pairIn, pathInto, type TypedStruct, type UnpackedAny, unpackBytes } from "../messages/any.js";
import { messageDepth } from "../messages/depths.js";
import { schemaOf } from "../messages/v2-names.js";
import { createPlans, type WalkPath, type WalkPlan } from "../messages/walk-plan.js";
import { typeNameOf } from "../names/identifiers.js";
import { perObject } from "../names/per-object.js";
import type { Registry } from "../registry/registry.js";
import { delimited, WireReader, wireType } from "../wire/wire-reader.js";
import { compareEnvoyVersions, type EnvoyVersion, formatEnvoyVersion } from "./envoy-version.js";
import { areAll, categoriesOf, slotsOf } from "./extension-types.js";
import { filterConfig } from "./per-route.js";
import { newestEnvoyVersion, sinceOf, sinceOfMessage } from "./since.js";

/** A part of a message that only newer Envoys know. */
export interface NewerPart {
  /** The steps to it, also through `Any`s. */
  readonly steps: readonly FieldStep[];
  /** Envoy ignores unknown fields, and rejects unknown extension types and enum values. */
  readonly kind: "field" | "type" | "value";
  /** The full name of the new field, type or value. */
  readonly name: string;
  readonly since: EnvoyVersion;
}

/** For people: `field "stats_matcher" is new in Envoy 1.40`. */
export function describeNewerPart({ kind, name, since }: NewerPart): string {
  const shown = kind === "type" ? name : name.slice(name.lastIndexOf(".") + 1);
  return `${kind} ${JSON.stringify(shown)} is new in Envoy ${formatEnvoyVersion(since)}`;
}

/** The checks of one field, by its number. */
interface NewFieldCheck {
  readonly field: DescField;
  readonly since: EnvoyVersion | undefined;
  /** Enum values by number, if they are newer than the enum. */
  readonly values: ReadonlyMap<number, NewValue> | undefined;
}

interface NewValue {
  readonly name: string;
  readonly since: EnvoyVersion;
}

/** By field number: new parts, and fields with more parts inside. */
type Checks = ReadonlyMap<number, NewFieldCheck>;

const planOf = createPlans<Checks>((schema) => schema.typeName === anyName || checksOf(schema).size > 0, checksOf);
const anyName = "google.protobuf.Any";

function checksOf(schema: DescMessage): Checks {
  const checks = new Map<number, NewFieldCheck>();
  for (const field of schema.fields) {
    const since = sinceOf(`${schema.typeName}.${field.name}`);
    const values = newValues(field);
    if (since !== undefined || values !== undefined) checks.set(field.number, { field, since, values });
  }
  return checks;
}

function newValues({ enum: schema, fieldKind }: DescField): ReadonlyMap<number, NewValue> | undefined {
  // No map in Envoy's API has enum values.
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
 * The parts of a serialized message that an Envoy of this version does not know, at most 100. Nothing inside a new part
 * is reported, and a list with new parts counts once. It reads the bytes without making messages, so that a thousand
 * resources cost milliseconds. Malformed bytes have no parts.
 */
export function newerParts(
  schema: DescMessage,
  body: Uint8Array,
  version: EnvoyVersion,
  registry: Registry,
): readonly NewerPart[] {
  const parts: NewerPart[] = [];
  walk({ version, registry, part: (part) => parts.length < maxFindings && parts.push(part) }, schema, body);
  return parts;
}

/** A configuration of an extension that Envoy lacks. */
export interface MissingExtension {
  readonly steps: readonly FieldStep[];
  /** The full name of the message that configures it. */
  readonly type: string;
  /** Whether Envoy's contrib build has it. */
  readonly isContrib: boolean;
}

/**
 * The extensions that a serialized message configures and the standard Envoy lacks, at most 100: of the categories that
 * an Envoy lists when it starts. Types outside of
 * Envoy's packages are not reported, unless nobody knows them: their users build their own Envoy.
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
      configured(type, file, steps) {
        // Other packages are not Envoy's; of gRPC's it is known that Envoy has no extension for them.
        const isForeign = file !== undefined && !/^(?:(?:contrib\/)?envoy|grpc)\//.test(file);
        if (isForeign || categoriesOf(type).length > 0 || missing.length >= maxFindings) return;
        missing.push({ steps: steps(), type, isContrib: file?.startsWith("contrib/") === true });
      },
    },
    schema,
    body,
  );
  return missing;
}

/** Receives the findings of a walk. */
interface Visitor {
  readonly version: EnvoyVersion;
  readonly registry: Registry;
  /** Something newer than the version. */
  readonly part: (part: NewerPart) => void;
  /** A configuration of an extension: its type, and the proto file of that, unless the type is unknown. */
  readonly configured?: (type: string, file: string | undefined, steps: () => readonly FieldStep[]) => void;
}

function walk(visitor: Visitor, schema: DescMessage, body: Uint8Array): void {
  const plan = planOf(schema);
  try {
    new NewerPartsWalk(visitor).message(plan, body, undefined, 0);
  } catch {
    // Readers of the message report its problems.
  }
}

class NewerPartsWalk {
  readonly #visitor: Visitor;
  /** The field with the message that is being read, and the field in it; undefined at the content of an `Any`. */
  #around: DescField | undefined;
  #field: DescField | undefined;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
  }

  message(plan: WalkPlan<Checks>, bytes: Uint8Array, at: FieldPath | undefined, depth: number): void {
    if (depth > messageDepth) return;
    if (plan.schema.typeName === anyName) {
      this.#any(bytes, at, depth);
      return;
    }
    const reader = new WireReader(bytes);
    const counts = new Map<number, number>();
    const paths = pathsByNumber(plan);
    while (!reader.atEnd) {
      const tag = reader.tag();
      const number = tag >>> 3;
      const check = plan.own.get(number);
      const path = paths.get(number);
      if (check?.since !== undefined && this.#isNewer(check.since)) {
        if (!counts.has(number))
          this.#note(
            "field",
            `${plan.schema.typeName}.${check.field.name}`,
            check.since,
            stepInto(at, check.field.name),
          );
        counts.set(number, 1);
        reader.skip(tag);
      } else if (check?.values !== undefined && (tag & 7) !== wireType.startGroup) {
        this.#values(check, check.values, reader, tag, at, counts);
      } else if (path !== undefined && tag === delimited(number)) {
        const index = counts.get(number) ?? 0;
        counts.set(number, index + 1);
        this.#inner(path, reader.part(), at, index, depth);
      } else reader.skip(tag);
    }
  }

  #inner(
    { field, shape, plan }: WalkPath<Checks>,
    bytes: Uint8Array,
    at: FieldPath | undefined,
    index: number,
    depth: number,
  ): void {
    const step = stepInto(at, field.name);
    const { first: key, second } = shape === "map" ? pairIn(bytes) : { first: "", second: bytes };
    const place = shape === "map" ? stepInto(step, { key }) : shape === "one" ? step : stepInto(step, index);
    const [outer, own] = [this.#around, this.#field];
    this.#around = own;
    this.#field = field;
    if (second !== undefined) this.message(plan, second, place, depth + 1);
    this.#around = outer;
    this.#field = own;
  }

  #values(
    { field }: NewFieldCheck,
    values: ReadonlyMap<number, NewValue>,
    reader: WireReader,
    tag: number,
    at: FieldPath | undefined,
    counts: Map<number, number>,
  ): void {
    // A packed list has several values in one piece.
    const end = tag === delimited(field.number) ? reader.varint() + reader.position : reader.position + 1;
    while (reader.position < end) {
      const index = counts.get(field.number) ?? 0;
      counts.set(field.number, index + 1);
      const value = values.get(reader.varint() | 0);
      if (value === undefined || !this.#isNewer(value.since)) continue;
      const step = stepInto(at, field.name);
      this.#note("value", value.name, value.since, field.fieldKind === "list" ? stepInto(step, index) : step);
    }
  }

  #any(bytes: Uint8Array, at: FieldPath | undefined, depth: number): void {
    const { first: typeUrl, second = new Uint8Array() } = pairIn(bytes);
    const schema = typeUrl === "" ? undefined : schemaOf(typeNameOf(typeUrl), this.#visitor.registry);
    if (schema === undefined) return;
    if (isTypedStruct(schema)) this.#struct(unpackBytes(typeUrl, second, this.#visitor.registry), at, depth);
    else this.#content(schema, () => second, at, at, depth);
  }

  /** A TypedStruct, in the `Any` at a path. */
  #struct(content: UnpackedAny | undefined, at: FieldPath | undefined, depth: number): void {
    if (content === undefined) return;
    const { schema, message, struct } = content;
    if (struct === undefined) {
      const { typeUrl } = message as TypedStruct;
      if (typeUrl !== "" && content.isUnread !== true) this.#configured(typeNameOf(typeUrl), undefined, at);
    } else this.#content(schema, () => toBinary(schema, message), at, pathInto(content, at), depth);
  }

  /** @param inside the path of the content's own fields */
  #content(
    schema: DescMessage,
    bytes: () => Uint8Array,
    at: FieldPath | undefined,
    inside: FieldPath | undefined,
    depth: number,
  ): void {
    this.#configured(schema.typeName, schema.file.name, at);
    const since = sinceOfMessage(schema.typeName);
    if (since !== undefined && this.#isNewer(since)) this.#note("type", schema.typeName, since, at);
    else {
      const [outer, own] = [this.#around, this.#field];
      this.#around = undefined;
      this.#field = undefined;
      this.message(planOf(schema), bytes(), inside, depth + 1);
      this.#around = outer;
      this.#field = own;
    }
  }

  /** Notes an extension where an Envoy would list it, and where only the contrib build has it. */
  #configured(type: string, file: string | undefined, at: FieldPath | undefined): void {
    const { configured } = this.#visitor;
    if (configured === undefined || this.#field === undefined) return;
    // It may be optional there.
    if (this.#field.parent?.typeName === filterConfig) return;
    const isContrib = file?.startsWith("contrib/") && at?.step === "typed_config";
    if (isContrib || areAll(slotsOf(this.#around, this.#field, at?.parent === undefined)))
      configured(type, file, () => stepsOf(at));
  }

  #isNewer(since: EnvoyVersion): boolean {
    return compareEnvoyVersions(since, this.#visitor.version) > 0;
  }

  #note(kind: NewerPart["kind"], name: string, since: EnvoyVersion, at: FieldPath | undefined): void {
    this.#visitor.part({ kind, name, since, steps: stepsOf(at) });
  }
}

const pathsByNumber = perObject(
  ({ paths }: WalkPlan<Checks>): ReadonlyMap<number, WalkPath<Checks>> =>
    new Map(paths.map((path) => [path.field.number, path])),
);
