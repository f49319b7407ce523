import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { XdskitErrorCode } from "../errors/error-codes.js";
import type { Finding } from "../errors/errors.js";
import type { FieldStep } from "../errors/field-path.js";
import { typeNameOf, typeUrlPrefix } from "../names/identifiers.js";
import type { Registry } from "../registry/registry.js";
import { snakeCase } from "../text/snake-case.js";
import { isObject, keepWritten, keysOfStep, writtenAs } from "../text/source-document.js";

/** One thing that a document holds, in the order in which it is read. */
export type DocumentItem =
  /** A value that says its own type. `declared`: the type that all values of its list have. */
  | {
      readonly kind: "item";
      readonly value: JsonValue;
      readonly steps: readonly FieldStep[];
      readonly declared?: string;
    }
  /** A resource of a type. `isState`: see `TakeAs`. */
  | {
      readonly kind: "typed";
      readonly value: JsonObject;
      readonly steps: readonly FieldStep[];
      readonly url: string;
      readonly isState: boolean;
    }
  | { readonly kind: "left out"; readonly what: string; readonly count: number }
  | {
      readonly kind: "finding";
      readonly code: XdskitErrorCode;
      readonly message: Message;
      readonly steps: readonly FieldStep[];
      readonly severity: Severity;
    };

/** A document form that holds resources among other things. */
export interface Form {
  /** The name of such a document: `an Envoy bootstrap`. */
  readonly name: string;
  /**
   * Whether the program that wrote it hides secrets. A resource that lacks its secrets is then left out with a warning.
   */
  readonly isDump: boolean;
  /** Takes the resources of one document. */
  take(taker: Taker): void;
}

/** What is taken out of a document in some form. Nothing of it is read yet. */
export class Taker {
  readonly registry: Registry;
  readonly items: DocumentItem[] = [];

  constructor(registry: Registry) {
    this.registry = registry;
  }

  /** Takes the value at the steps as a resource. */
  take(value: JsonValue | undefined, steps: readonly FieldStep[], { type, name, isState = false }: TakeAs = {}): void {
    const url = isObject(value) ? (value["@type"] ?? (type && `${typeUrlPrefix}${type}`)) : undefined;
    if (!isObject(value) || typeof url !== "string" || url === "") {
      this.items.push({ kind: "item", value: value ?? null, steps });
      return;
    }
    const isNamed = name === undefined || textOf(value, "name") !== undefined || url.endsWith(typeNames.endpoint);
    this.items.push({ kind: "typed", value: isNamed ? value : named(value, name), steps, url, isState });
  }

  /** Notes a part that is left out on purpose. With a count, `what` is a noun in the singular. */
  leaveOut(what: string, count = 0): void {
    this.items.push({ kind: "left out", what, count });
  }

  /** Notes a problem at a place. */
  find(code: XdskitErrorCode, message: Message, steps: readonly FieldStep[], severity: Severity = "error"): void {
    this.items.push({ kind: "finding", code, message, steps, severity });
  }
}

function named(item: JsonObject, name: string): JsonObject {
  const named = { ...item, name };
  keepWritten(item, named);
  return named;
}

type Severity = Finding["severity"];

/** A text, or a function that makes it: of a thousand problems only the first are reported. */
export type Message = string | (() => string);

/** Facts about a resource that follow from its place. */
export interface TakeAs {
  /** The full name of its type, if the resource does not say it. */
  readonly type?: string | undefined;
  /** Its name, if the resource does not say it. */
  readonly name?: string | undefined;
  /**
   * Whether a second resource of the same name is left out, whatever it holds: it is the same one at another moment.
   */
  readonly isState?: boolean | undefined;
}

/** The full names of resource types. */
export const typeNames = {
  listener: "envoy.config.listener.v3.Listener",
  cluster: "envoy.config.cluster.v3.Cluster",
  route: "envoy.config.route.v3.RouteConfiguration",
  endpoint: "envoy.config.endpoint.v3.ClusterLoadAssignment",
  secret: "envoy.extensions.transport_sockets.tls.v3.Secret",
  runtime: "envoy.service.runtime.v3.Runtime",
} as const;

/** The proto name of a field, from either of its spellings. */
export function protoNameOf(key: string): string {
  return snakeCase(key);
}

/** A field in either spelling; undefined if it is missing or null. */
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

/** The full name of the type that an object says it has. */
export function typeOfForm(object: JsonObject): string | undefined {
  const url = object["@type"];
  return typeof url === "string" ? typeNameOf(url) : undefined;
}

/** A part of a document, and the steps to it. */
export interface FormPart {
  readonly object: JsonObject;
  readonly steps: readonly FieldStep[];
}

/**
 * The objects of a list in a field, and of nested lists. A single object needs no list. Anything else is reported and
 * skipped.
 */
export function* objectsIn({ object, steps }: FormPart, field: string, taker: Taker): Generator<FormPart> {
  const list = fieldOf(object, field);
  if (list === undefined) return;
  const at = [...steps, field];
  if (typeof list === "object") yield* objectsAt(list, at, taker);
  else taker.find("XDSKIT_FIELD_INVALID", "expected a list", at);
}

function* objectsAt(value: JsonValue | undefined, steps: readonly FieldStep[], taker: Taker): Generator<FormPart> {
  if (isObject(value)) yield { object: value, steps };
  else if (!Array.isArray(value)) taker.find("XDSKIT_FIELD_INVALID", "expected a mapping", steps);
  else for (let index = 0; index < value.length; index += 1) yield* objectsAt(value[index], [...steps, index], taker);
}

/** The object in a field. Anything else is reported. */
export function objectIn({ object, steps }: FormPart, field: string, taker: Taker): FormPart | undefined {
  const value = fieldOf(object, field);
  if (value === undefined) return undefined;
  const at = [...steps, field];
  if (isObject(value)) return { object: value, steps: at };
  taker.find("XDSKIT_FIELD_INVALID", "expected a mapping", at);
  return undefined;
}
