import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { typeNameOf } from "../any.js";
import type { XdskitErrorCode } from "../error-codes.js";
import type { Finding } from "../errors.js";
import type { FieldStep } from "../field-path.js";
import type { Registry } from "../registry.js";
import { keysOfStep, writtenAs } from "../source-document.js";

/** A form of documents that hold resources among other things. */
export interface Form {
  /** What such a document is: `an Envoy bootstrap`. */
  readonly name: string;
  /** Whether a program wrote it that hides secrets: what lacks its own is left out then, with a warning. */
  readonly isDump: boolean;
  /** Takes the resources of one document. */
  take(taker: Taker): void;
}

/** Takes resources out of a document. */
export interface Taker {
  readonly registry: Registry;
  /** Takes what stands at the steps as a resource, and says what is wrong with it. */
  take(item: JsonValue | undefined, steps: readonly FieldStep[], as?: TakeAs): void;
  /** Notes what is left out on purpose. With a count it is a noun in the singular. */
  leaveOut(what: string, count?: number): void;
  /** Notes what is wrong at a place. */
  find(code: XdskitErrorCode, message: Message, steps: readonly FieldStep[], severity?: Finding["severity"]): void;
}

/** A text, or what makes it: of a thousand faults only the first are told. */
export type Message = string | (() => string);

/** What the place of a resource says of it. */
export interface TakeAs {
  /** The full name of its type, for one that does not say it itself. */
  readonly type?: string | undefined;
  /** For one that does not say its name. */
  readonly name?: string | undefined;
  /** Whether another one of the same name is left out, whatever it holds: it is the same with another state of the moment. */
  readonly isState?: boolean | undefined;
}

/** Full names of types of resources. */
export const typeNames = {
  listener: "envoy.config.listener.v3.Listener",
  cluster: "envoy.config.cluster.v3.Cluster",
  route: "envoy.config.route.v3.RouteConfiguration",
  endpoint: "envoy.config.endpoint.v3.ClusterLoadAssignment",
  secret: "envoy.extensions.transport_sockets.tls.v3.Secret",
  runtime: "envoy.service.runtime.v3.Runtime",
} as const;

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The proto name of a field by its JSON name or its own. */
export function protoNameOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A field in either spelling; undefined where it is missing or null. */
export function fieldOf(object: JsonObject, field: string): JsonValue | undefined {
  for (const key of keysOfStep(field)) {
    if (Object.hasOwn(object, key)) return object[key] ?? undefined;
  }
  return undefined;
}

/** A text that is not empty. */
export function textOf(object: JsonObject, field: string): string | undefined {
  for (const key of keysOfStep(field)) {
    const value = writtenAs(object, key) ?? object[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

/** The full name of the type that an object says it is of. */
export function typeOf(object: JsonObject): string | undefined {
  const url = object["@type"];
  return typeof url === "string" ? typeNameOf(url) : undefined;
}

/** A part of a document, and the steps to it. */
export interface Part {
  readonly object: JsonObject;
  readonly steps: readonly FieldStep[];
}

/**
 * The objects of a list in a field, and of lists in it; a single one needs no list. What is something else is told, and
 * passed over.
 */
export function* objectsIn({ object, steps }: Part, field: string, taker: Taker): Generator<Part> {
  const list = fieldOf(object, field);
  if (list === undefined) return;
  const at = [...steps, field];
  if (typeof list === "object") yield* objectsAt(list, at, taker);
  else taker.find("XDSKIT_FIELD_INVALID", "expected a list", at);
}

function* objectsAt(value: JsonValue | undefined, steps: readonly FieldStep[], taker: Taker): Generator<Part> {
  if (isObject(value)) yield { object: value, steps };
  else if (!Array.isArray(value)) taker.find("XDSKIT_FIELD_INVALID", "expected a mapping", steps);
  else for (let index = 0; index < value.length; index += 1) yield* objectsAt(value[index], [...steps, index], taker);
}

/** An object in a field. Something else is told. */
export function objectIn({ object, steps }: Part, field: string, taker: Taker): Part | undefined {
  const value = fieldOf(object, field);
  if (value === undefined) return undefined;
  const at = [...steps, field];
  if (isObject(value)) return { object: value, steps: at };
  taker.find("XDSKIT_FIELD_INVALID", "expected a mapping", at);
  return undefined;
}
