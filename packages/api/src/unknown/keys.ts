import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { typeUrlPrefix } from "../identifiers.js";

/** In JSON and YAML, beside the fields of a message: those that its schema does not have, serialized, in base64. They are merged into the message. */
export const unknownKey = "@unknown";
/** Of an `Any` that JSON cannot say: its type URL. */
export const typeUrlKey = "@typeUrl";
/** Of an `Any` that JSON cannot say: its bytes in base64. */
export const valueKey = "@value";

/**
 * What such an `Any` is for other readers: a message that Envoy knows, and takes for the configuration of nothing. Envoy passes over keys that it does not know, so it rejects the
 * one resource that needs the content, and not the whole file or answer as for a type that it does not know.
 */
export const standInUrl = `${typeUrlPrefix}xds.type.v3.TypedStruct`;

/** Whether an object stands for an `Any` that JSON cannot say. */
export function isBinaryForm(json: JsonObject): boolean {
  return Object.hasOwn(json, valueKey) || Object.hasOwn(json, typeUrlKey);
}

export function isObject(json: JsonValue | undefined): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
