import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { FieldStep } from "../errors/field-path.js";
import { messageOf } from "../errors/findings.js";
import { maxValues, tooManyValues } from "../errors/limits.js";
import { unknownTypeMessage } from "../messages/unknown-type.js";
import { schemaOf } from "../messages/v2-names.js";
import { typeNameOf } from "../names/identifiers.js";
import { responseName, wrappedVersionOf, wrapperName, wrappingOf } from "../resources/wrapping.js";
import { atOnce, type Steps } from "../timing/in-turns.js";
import { hasTooManyValues, type ScannedResponse, scanResponse, TooManyValues } from "./binary-scan.js";
import { addFinding, addResource, type FilePart, type FileReading } from "./file-reading.js";

/** The positions of the fields of a response's resource. */
export type PositionInResponse = (steps: readonly FieldStep[]) => ReturnType<FilePart["at"]>;

/** Reads a binary `DiscoveryResponse`. */
export function readBinary(reading: FileReading, bytes: Uint8Array): void {
  atOnce(readBinarySteps(reading, bytes));
}

/**
 * The same with a stop after each resource. Resources are decoded one by one: all at once would take many times the
 * memory of their bytes.
 */
export function* readBinarySteps(reading: FileReading, bytes: Uint8Array): Steps<void> {
  const schema = responseSchema(reading);
  let found: ScannedResponse;
  try {
    found = scanResponse(schema, bytes, maxValues(bytes.length));
  } catch (error) {
    const text = error instanceof TooManyValues ? error.message : `not a binary DiscoveryResponse: ${reasonOf(error)}`;
    addFinding(reading, { at: nowhere }, "XDSKIT_SYNTAX", text);
    return;
  }
  if (found.hasUnknown && found.resources.length === 0) {
    addFinding(reading, { at: nowhere }, "XDSKIT_FILE_FORM", "it holds another message than a DiscoveryResponse");
    return;
  }
  reading.version = wrappedVersionOf(found.head);
  yield* resourceSteps(reading, found.resources.length, (index) => found.read(index), nowhere);
}

/** Adds the resources of a response. */
export function readResponse(reading: FileReading, response: Message, at: PositionInResponse): void {
  reading.version = wrappedVersionOf(response);
  const resources = (response as Message & { resources: Any[] }).resources;
  atOnce(resourceSteps(reading, resources.length, (index) => resources[index] as Any, at));
}

function* resourceSteps(
  reading: FileReading,
  count: number,
  anyAt: (index: number) => Any,
  at: PositionInResponse,
): Steps<void> {
  for (let index = 0; index < count; index += 1) {
    readAny(reading, anyAt(index), ["resources", index], at);
    yield;
  }
}

/** The schema of `DiscoveryResponse`. */
export function responseSchema({ registry }: FileReading): DescMessage {
  const schema = registry.getMessage(responseName);
  if (schema === undefined) throw new Error(`the registry lacks ${responseName}`);
  return schema;
}

/** Adds the resource in an `Any`, which may be wrapped. `steps` lead to it. */
export function readAny(reading: FileReading, any: Any, steps: readonly FieldStep[], at: PositionInResponse): void {
  const part: FilePart = { typeUrl: any.typeUrl, at: (inner) => at([...steps, ...inner]) };
  const unwrapped = unpack(reading, any, part);
  if (unwrapped === undefined) return;
  if (unwrapped.schema.typeName !== wrapperName) {
    addResource(reading, { ...part, resource: nameIn(unwrapped.message) }, unwrapped.schema, unwrapped.message, {});
    return;
  }
  const inner = (unwrapped.message as Message & { resource?: Any | undefined }).resource;
  if (inner === undefined) {
    addFinding(reading, part, "XDSKIT_TYPE_MISSING", "the wrapped resource is missing", ["resource"]);
    return;
  }
  const innerPart: FilePart = { typeUrl: inner.typeUrl, at: (more) => at([...steps, "resource", ...more]) };
  const content = unpack(reading, inner, innerPart);
  if (content === undefined) return;
  const wrapping = wrappingOf(unwrapped.message);
  const resource = wrapping.name ?? nameIn(content.message);
  addResource(reading, { ...innerPart, resource }, content.schema, content.message, wrapping);
}

/** Reads the content of an `Any`, or reports its problem. */
export function unpack(
  reading: FileReading,
  any: Any,
  part: FilePart,
): { schema: DescMessage; message: Message } | undefined {
  const schema = schemaOf(typeNameOf(any.typeUrl), reading.registry);
  if (schema === undefined) {
    if (any.typeUrl === "") addFinding(reading, part, "XDSKIT_TYPE_MISSING", "a resource lacks its type URL");
    else addFinding(reading, part, "XDSKIT_TYPE_UNKNOWN", () => unknownTypeMessage(any.typeUrl, reading.registry));
    return undefined;
  }
  if (hasTooManyValues(schema, any.value, reading.registry)) {
    addFinding(reading, part, "XDSKIT_SYNTAX", tooManyValues(maxValues(any.value.length)));
    return undefined;
  }
  try {
    return { schema, message: fromBinary(schema, any.value) };
  } catch (error) {
    addFinding(reading, part, "XDSKIT_SYNTAX", `not a serialized ${schema.typeName}: ${reasonOf(error)}`);
    return undefined;
  }
}

/** A resource's own name, for findings. */
function nameIn(message: Message): string | undefined {
  const { name, clusterName } = message as Message & { name?: unknown; clusterName?: unknown };
  return [name, clusterName].find((known): known is string => typeof known === "string" && known !== "");
}

function nowhere(): undefined {
  return undefined;
}

function reasonOf(error: unknown): string {
  return error instanceof RangeError ? "it ends too early, or is nested too deep" : messageOf(error);
}
