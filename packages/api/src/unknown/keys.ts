import type { JsonObject } from "@bufbuild/protobuf";
import { typeUrlPrefix } from "../names/identifiers.js";

/**
 * In JSON and YAML, beside a message's fields: the fields that its schema lacks, serialized, in base64. They are merged
 * into the message.
 */
export const unknownKey = "@unknown";
/** For an `Any` that JSON cannot express: its type URL. */
export const typeUrlKey = "@typeUrl";
/** For an `Any` that JSON cannot express: its bytes in base64. */
export const valueKey = "@value";

/**
 * The type of such an `Any` for other readers: a message that Envoy knows and that configures nothing. Envoy ignores
 * unknown keys, so it rejects only the resource that needs the content, and not the whole file or response, as it does
 * for an unknown type.
 */
export const standInUrl = `${typeUrlPrefix}xds.type.v3.TypedStruct`;

/** Whether an object is the binary form of an `Any`. */
export function isBinaryForm(json: JsonObject): boolean {
  return Object.hasOwn(json, valueKey) || Object.hasOwn(json, typeUrlKey);
}
