import assert from "node:assert/strict";
import { test } from "node:test";
import {
  create,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "../errors/errors.js";
import { readJsonMessage, without } from "../json/json-message.js";
import { withV2Names } from "../messages/v2-names-registry.js";
import { typeNameOf, typeUrlPrefix } from "../names/identifiers.js";
import { envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { createResource, type Resource } from "../resources/resource.js";
import { times } from "../testing/effort.js";
import { createRepeatable, type Repeatable } from "../testing/repeatable.js";
import { plansOf } from "../validate/message-plan.js";
import { checkMessage, keepsRulesUnset } from "../validate/validate-message.js";
import { CompiledResources } from "./compiled-resources.js";

const registry = envoyRegistry();
const reading = withV2Names(registry);

/** The result of the explaining readers; undefined if they find anything wrong. */
function slowly(item: JsonObject): Resource | undefined {
  const schema = registry.getMessage(typeNameOf(String(item["@type"]))) ?? assert.fail();
  const read = readJsonMessage(schema, without(item, "@type"), reading);
  if (read.kind === "problems" || checkMessage(schema, read.message, registry, undefined, { envoy: true }).length > 0)
    return undefined;
  try {
    return createResource(read.message);
  } catch (error) {
    if (error instanceof XdskitError) return undefined;
    throw error;
  }
}

function compiled(item: JsonObject): Resource | undefined {
  const reading = { registry, types: resourceTypes, views: false };
  return new CompiledResources(reading).read(item, String(item["@type"]), {})?.resource;
}

const strings = ["a", "web", "x-y", "/v1", "10.0.0.1", "", "é", "漢字", "a".repeat(50), "*.a.b", `${"x".repeat(60)}ü`];

/** Random JSON of messages, by their descriptors, always with the fields that rules require. */
class Samples {
  private readonly chance: Repeatable;
  private readonly contents: readonly DescMessage[];
  constructor(chance: Repeatable, contents: readonly DescMessage[]) {
    this.chance = chance;
    this.contents = contents;
  }

  message(schema: DescMessage, depth: number): JsonValue {
    const { chance } = this;
    switch (schema.typeName) {
      case "google.protobuf.Any":
        return this.any(depth);
      case "google.protobuf.Duration":
        return chance.oneOf(["1s", "0.25s", "0s", "10s", "3.000000001s", "-1s", "1s500ms", "315576000001s"]);
      case "google.protobuf.Timestamp":
        return "2026-01-31T12:00:00Z";
      case "google.protobuf.FieldMask":
        return "a,b";
      case "google.protobuf.Struct":
        return { b: this.value(depth), a: this.value(depth), 10: this.value(depth), 9: 1 };
      case "google.protobuf.Value":
        return this.value(depth);
      case "google.protobuf.ListValue":
        return [this.value(depth)];
    }
    if (isWrapperDesc(schema)) return this.scalar(schema.fields[0]);
    const { oneofs, checks } = plansOf(registry).own(schema);
    const empty = create(schema);
    const needed = new Set<DescField>();
    for (const check of checks) if (!keepsRulesUnset(check, empty)) needed.add(check.field);
    for (const { localName } of oneofs) {
      const members = schema.oneofs.find((one) => one.localName === localName)?.fields ?? [];
      if (members.length > 0) needed.add(chance.oneOf(members));
    }
    if (depth > 0) {
      for (let more = chance.below(4); more > 0 && schema.fields.length > 0; more -= 1) {
        const field = chance.oneOf(schema.fields);
        if (field.oneof !== undefined && [...needed].some(({ oneof }) => oneof === field.oneof)) continue;
        if (field.deprecated) continue;
        needed.add(field);
      }
    }
    const json: JsonObject = {};
    if (depth < -4) return json;
    for (const field of needed) json[chance.oneOf([field.name, field.jsonName])] = this.field(field, depth - 1);
    return json;
  }

  private any(depth: number): JsonValue {
    const content = this.chance.oneOf(this.contents);
    const json = this.message(content, Math.min(depth, 1));
    const fields = typeof json === "object" && json !== null && !Array.isArray(json) ? json : { value: json };
    const isOwn = /^google\.protobuf\.(Any|Struct|Value|ListValue)$/.test(content.typeName);
    return { "@type": `${typeUrlPrefix}${content.typeName}`, ...(isOwn ? { value: json } : fields) };
  }

  private field(field: DescField, depth: number): JsonValue {
    const one = () => (field.message !== undefined ? this.message(field.message, depth) : this.scalar(field));
    if (field.fieldKind === "list") return Array.from({ length: 1 + this.chance.below(2) }, one);
    if (field.fieldKind !== "map") return one();
    if (field.mapKey !== ScalarType.STRING) return { 7: one() };
    return { [this.chance.oneOf(["z", "b", "10", "__proto__"])]: one(), a: one(), 9: one() };
  }

  private scalar(field: DescField | undefined): JsonValue {
    const { chance } = this;
    if (field?.enum !== undefined) {
      const { name, number } = chance.oneOf(field.enum.values);
      return chance.oneOf([name, name, number]);
    }
    switch (field?.scalar) {
      case ScalarType.BOOL:
        return chance.below(2) === 0;
      case ScalarType.STRING:
        return chance.oneOf(strings);
      case ScalarType.BYTES:
        return chance.oneOf(["", "AA==", "aGVsbG8=", "YQ", "a-_b"]);
      case ScalarType.DOUBLE:
      case ScalarType.FLOAT:
        return chance.oneOf([0, 1, 0.5, -2.25, 1e300, -0, "NaN", "1"]);
      case ScalarType.INT64:
      case ScalarType.UINT64:
        return chance.oneOf([0, 1, "12", "9007199254740993", 4294967296, 2 ** 53 - 1, "007"]);
      default:
        return chance.oneOf([1, 0, 2, 100, 127, 128, 16384, 2147483647, 4294967295, -1, "5"]);
    }
  }

  private value(depth: number): JsonValue {
    const plain: readonly JsonValue[] = ["x", "", 1.5, 0, true, false, null, [1, "a", null], {}];
    return this.chance.oneOf([...plain, depth > 0 ? { b: this.value(depth - 1), a: [this.value(depth - 1)] } : {}]);
  }
}

const odd: readonly JsonValue[] = [
  null,
  -1,
  1.5,
  Number.POSITIVE_INFINITY,
  "",
  "1",
  "1s500ms",
  true,
  {},
  [],
  [null],
  "\ud800",
  2 ** 40,
  "EDS",
  { "@type": "x" },
  ...([10n ** 20n, { "@type": `${typeUrlPrefix}google.protobuf.StringValue`, value: "a" }] as JsonValue[]),
];

/** The same with one thing changed. */
function mutated(json: JsonValue, chance: Repeatable): JsonValue {
  if (typeof json !== "object" || json === null) return chance.oneOf(odd);
  if (chance.below(8) === 0) return chance.oneOf(odd);
  if (Array.isArray(json)) {
    const index = chance.below(json.length);
    return json.length === 0 ? [chance.oneOf(odd)] : json.with(index, mutated(json[index] ?? null, chance));
  }
  const keys = Object.keys(json);
  const key = keys[chance.below(keys.length)];
  if (key === undefined || chance.below(10) === 0)
    return { ...json, [chance.oneOf(["name", "x", "type", "[a.b]"])]: 1 };
  if (chance.below(10) === 0) {
    const camel = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return { ...json, [camel]: json[key] ?? null };
  }
  const { [key]: value = null, ...others } = json;
  if (chance.below(6) === 0) return others;
  return { ...others, [key]: mutated(value, chance) };
}

const messages = [...registry]
  .filter((type) => type.kind === "message")
  .filter(
    ({ typeName }) => /^(envoy|xds|udpa)\..*v\d/.test(typeName) && !/\.service\.|\.admin\.|\.data\./.test(typeName),
  );
const wellKnown = ["Any", "Struct", "Value", "Duration", "StringValue", "Empty"];
const contents = [
  ...messages,
  ...wellKnown.map((name) => registry.getMessage(`google.protobuf.${name}`) ?? assert.fail()),
];
function item(samples: Samples, chance: Repeatable, index: number): JsonObject {
  const types = resourceTypes.all.filter(({ nameField }) => nameField !== undefined);
  const content = contents[index % contents.length] as DescMessage;
  if (index % 2 === 0) {
    const json = samples.message(content, 2);
    const fields = typeof json === "object" && json !== null && !Array.isArray(json) ? json : { value: json };
    const typed_config = { "@type": `${typeUrlPrefix}${content.typeName}`, ...fields };
    return { "@type": `${typeUrlPrefix}envoy.config.core.v3.TypedExtensionConfig`, name: "n", typed_config };
  }
  const type = chance.oneOf(types);
  const json = samples.message(type.schema ?? assert.fail(), 3) as JsonObject;
  const { nameField = "" } = type;
  return { ...json, "@type": type.typeUrl, ...(chance.below(10) > 0 ? { [nameField]: chance.oneOf(strings) } : {}) };
}

test("host names are compiled in clusters of an extension, which may resolve them, and not in other clusters", () => {
  const endpoint = { address: { socket_address: { address: "a.example", port_value: 80 } } };
  const fields = { load_assignment: { cluster_name: "c", endpoints: [{ lb_endpoints: [{ endpoint }] }] } };
  const own = { name: "envoy.clusters.dns" };
  for (const [finding, isCompiled] of [
    [{ cluster_type: own }, true],
    [{ clusterType: own }, true],
    [{ type: "STRICT_DNS" }, true],
    [{ type: "STATIC" }, false],
    [{ cluster_type: null }, false],
    [{}, false],
  ] as const) {
    const json = { "@type": `${typeUrlPrefix}envoy.config.cluster.v3.Cluster`, name: "c", ...fields, ...finding };
    assert.equal(compiled(json) !== undefined, isCompiled, JSON.stringify(finding));
  }
});

test("a compiled reader makes the same of JSON as the explaining readers, or leaves it to them", () => {
  const chance = createRepeatable();
  const samples = new Samples(chance, contents);
  let well = 0;
  let taken = 0;
  for (let index = 0; index < times(2 * contents.length); index += 1) {
    const json = item(samples, chance, index);
    for (const one of [json, mutated(json, chance)] as JsonObject[]) {
      if (typeof one !== "object" || one === null || typeof one["@type"] !== "string") continue;
      if (registry.getMessage(one["@type"].slice(typeUrlPrefix.length)) === undefined) continue;
      const expected = slowly(one);
      const made = compiled(one);
      if (expected !== undefined) well += 1;
      if (made === undefined) continue;
      taken += 1;
      const text = () => JSON.stringify(one, (_, value) => (typeof value === "bigint" ? String(value) : value));
      assert.ok(expected, `refused: ${text()}`);
      assert.deepEqual(plain(made), plain(expected), text());
    }
  }
  assert.ok(taken > 0.7 * well, `only ${taken} of ${well} were compiled`);
});

function plain({ body, ...others }: Resource): object {
  return { ...others, body: Buffer.from(body).toString("hex") };
}
