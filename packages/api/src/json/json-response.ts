import { create, type DescMessage, type JsonObject, type JsonValue, type Message, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import type { Finding } from "../errors/errors.js";
import { formatFieldPath } from "../errors/field-path.js";
import type { FieldProblem } from "../errors/field-problem.js";
import { unknownTypeMessage } from "../messages/unknown-type.js";
import { schemaOf } from "../messages/v2-names.js";
import { withV2Names } from "../messages/v2-names-registry.js";
import { type ResourceName, type TypeUrl, typeNameOf, typeUrlPrefix } from "../names/identifiers.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { ResourceType, ResourceTypes } from "../resource-types/resource-type.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { responseName, wrapperName } from "../resources/wrapping.js";
import { decodeText } from "../text/file-text.js";
import { isObject } from "../text/source-document.js";
import { readBinaryForm } from "../unknown/json-reader.js";
import { isBinaryForm } from "../unknown/keys.js";
import { mayHideMistakes } from "./json-expected.js";
import { readSentJsonMessage, without } from "./json-message.js";
import { parseJson } from "./json-source.js";

/** A resource of a response that could not be read as its type. */
export interface UnreadResource {
  /** Its position in the response. */
  readonly index: number;
  /** Undefined if even its name could not be read. */
  readonly name: ResourceName | undefined;
  /** At least one. None contains a value: it may be a secret. */
  readonly findings: readonly Finding[];
}

/** The answer of a REST server, or why it is not a response. */
export type ReadResponseJson =
  | {
      readonly kind: "response";
      /** The serialized `DiscoveryResponse`. */
      readonly bytes: Uint8Array;
      readonly unread: readonly UnreadResource[];
    }
  | { readonly kind: "problem"; readonly message: string };

/** The context in which a response is read. */
export interface ReadJsonResponseOptions {
  readonly registry?: Registry | undefined;
  readonly types?: ResourceTypes | undefined;
  /** The requested type. */
  readonly type: ResourceType;
  /**
   * The type URL of a message that stands for each unread resource in the bytes: of its name, and equal to no message
   * that anybody ever took. Undefined: they are dropped.
   */
  readonly standInType?: TypeUrl | undefined;
}

/** A field that no message has. */
const marker = new Uint8Array([0xf8, 0xff, 0xff, 0xff, 0x0f, 1]);

/**
 * Reads a `DiscoveryResponse` in proto3's JSON mapping, v2 or v3, with both spellings of fields. Unknown fields are
 * ignored, since servers may be newer. A resource that cannot be read is reported separately and does not affect the
 * others. Never throws because of a server's answer.
 */
export function readJsonResponse(bytes: Uint8Array, options: ReadJsonResponseOptions): ReadResponseJson {
  const registry = options.registry ?? envoyRegistry();
  const text = decodeText(bytes, "json");
  if (text.problem !== undefined) return problem(text.problem.message);
  if (text.text.trim() === "") return problem("the body is empty");
  const source = parseJson(text.text, "envoy");
  const [syntax] = source.problems;
  if (syntax !== undefined) {
    const { line, column } = text.at(syntax.offset);
    return problem(`the body is no JSON: line ${line}, column ${column}: ${syntax.message}`);
  }
  const json = source.documents[0]?.value;
  if (json === undefined || !isObject(json))
    return problem("the body is no JSON object, and a DiscoveryResponse is one");
  const { resources = null } = json;
  const others = without(json, "@type", "resources");
  const list = Array.isArray(resources) ? resources : resources === null ? [] : [resources];
  if (!Array.isArray(resources) && !list.every(isObject)) return problem("resources: expected a list");
  const schema = registry.getMessage(responseName);
  if (schema === undefined) throw new Error(`the registry lacks ${responseName}`);
  const reading = { ...options, registry: withV2Names(registry), careful: mayHideMistakes(text.text) };
  const head = readSentJsonMessage(schema, others, reading.registry, reading);
  if (head.kind === "problems") return problem(inWords(head.problems));

  const items = list.map((item, index) => readItem(item, index, reading));
  const anys = items.flatMap((item) => (isUnreadResource(item) ? standIn(item, reading) : [item]));
  const whole = Object.assign(create(schema), head.message, { resources: anys });
  return { kind: "response", unread: items.filter(isUnreadResource), bytes: toBinary(schema, whole as Message) };
}

function standIn({ name }: UnreadResource, { standInType, registry }: ItemReading): readonly Any[] {
  if (standInType === undefined) return [];
  const bare = create(AnySchema, { typeUrl: standInType, value: marker });
  const wrapper = registry.getMessage(wrapperName);
  // Without a name it is rejected for that.
  if (name === undefined || wrapper === undefined) return [bare];
  const wrapped = create(wrapper, { name, resource: bare } as Record<string, unknown>);
  return [create(AnySchema, { typeUrl: `${typeUrlPrefix}${wrapperName}`, value: toBinary(wrapper, wrapped) })];
}

interface ItemReading extends ReadJsonResponseOptions {
  readonly registry: Registry;
  readonly careful: boolean;
}

function isUnreadResource(item: Any | UnreadResource): item is UnreadResource {
  return "findings" in item;
}

function readItem(item: JsonValue, index: number, reading: ItemReading): Any | UnreadResource {
  const { type, registry } = reading;
  if (!isObject(item)) {
    const message = 'expected a resource: an object with "@type" and the resource\'s fields';
    return unreadable(index, type, undefined, [{ code: "XDSKIT_MESSAGE_INVALID", steps: [], message }]);
  }
  if (isBinaryForm(item)) {
    const any = readBinaryForm(item);
    return "code" in any ? unreadable(index, type, undefined, [any]) : create(AnySchema, any);
  }
  const name = nameIn(item) ?? (isObject(item.resource ?? null) ? nameIn(item.resource as JsonObject) : undefined);
  const typeUrl = item["@type"];
  if (typeof typeUrl !== "string" || typeUrl === "") {
    const message = `it lacks "@type", such as ${JSON.stringify(type.typeUrl)}`;
    return unreadable(index, type, name, [{ code: "XDSKIT_TYPE_MISSING", steps: [], message }]);
  }
  const schema = schemaOfItem(typeUrl, reading);
  if (schema === undefined) {
    const message = unknownTypeMessage(typeUrl, registry);
    return unreadable(index, type, name, [{ code: "XDSKIT_TYPE_UNKNOWN", steps: [], message }]);
  }
  const read = readSentJsonMessage(schema, without(item, "@type"), registry, reading);
  if (read.kind === "problems") return unreadable(index, type, name, read.problems);
  try {
    return create(AnySchema, { typeUrl, value: toBinary(schema, read.message) });
  } catch {
    const message = "a field holds what its type cannot";
    return unreadable(index, type, name, [{ code: "XDSKIT_MESSAGE_INVALID", steps: [], message }]);
  }
}

function schemaOfItem(typeUrl: string, { registry, types = resourceTypes }: ItemReading): DescMessage | undefined {
  // A user's own type may come from a generated module that is in no registry.
  return schemaOf(typeNameOf(typeUrl), registry) ?? types.byTypeUrl(typeUrl)?.type.schema;
}

function unreadable(
  index: number,
  type: ResourceType,
  name: ResourceName | undefined,
  problems: readonly FieldProblem[],
): UnreadResource {
  const findings = problems.map(({ code, steps, message }) => {
    return {
      code,
      severity: "error",
      message,
      field: formatFieldPath(steps),
      type: type.name,
      resource: name,
    } as const;
  });
  return { index, name, findings };
}

/** The name in a resource or in its wrapper. */
function nameIn(item: JsonObject): ResourceName | undefined {
  const located = item.resource_name ?? item.resourceName;
  const name =
    item.name ??
    item.cluster_name ??
    item.clusterName ??
    (isObject(located ?? null) ? (located as JsonObject).name : null);
  return typeof name === "string" && name !== "" ? name : undefined;
}

function inWords([first]: readonly FieldProblem[]): string {
  if (first === undefined) return "it is no DiscoveryResponse";
  const field = formatFieldPath(first.steps);
  return `it is no DiscoveryResponse: ${field === undefined || field === "" ? "" : `${field}: `}${first.message}`;
}

function problem(message: string): ReadResponseJson {
  return { kind: "problem", message };
}
