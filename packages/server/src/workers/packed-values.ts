import type { ResourceType, ResourceTypes } from "@xdskit/api";
import { typeFrom } from "./packed-resources.js";

/*
 * Values as they travel between threads: what holds types of resources, which have functions, has their URLs in their
 * places; what was thrown is its text.
 */

interface PackedType {
  readonly $type: string;
}

/** Makes a plain value travel. What a client said of itself (`node`) is plain as it is. */
export function packValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (isType(value)) return { $type: value.typeUrl } satisfies PackedType;
  if (value instanceof Error) return { $error: value.stack ?? String(value) };
  if (Array.isArray(value)) return value.map(packValue);
  return mapped(value, packValue);
}

/** The value that was packed, with the types of this thread. */
export function unpackValue(value: unknown, types: ResourceTypes): unknown {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if ("$type" in value) return typeFrom(types, String(value.$type));
  if ("$error" in value) return errorFrom(String(value.$error));
  const unpack = (each: unknown) => unpackValue(each, types);
  if (Array.isArray(value)) return value.map(unpack);
  return mapped(value, unpack);
}

function mapped(value: object, map: (value: unknown) => unknown): object {
  const made: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) made[key] = key === "node" ? each : map(each);
  return made;
}

function errorFrom(stack: string): Error {
  const error = new Error(stack.split("\n", 1)[0]);
  error.stack = stack;
  return error;
}

function isType(value: object): value is ResourceType {
  return "nameOf" in value && "typeUrl" in value;
}
