import { fromBinary } from "@bufbuild/protobuf";
import { createUnpack } from "../messages/any.js";
import { schemaOf } from "../messages/v2-names.js";
import { typeNameOf } from "../names/identifiers.js";
import { perObject } from "../names/per-object.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { Resource } from "../resources/resource.js";
import { knownBytes, redactMessage } from "./redact.js";

/**
 * The v3 body of a resource without its secrets; empty if its type is unknown. Made on first use, and kept as long as
 * the resource lives. Never write to it.
 */
export type RedactedBody = (resource: Resource) => Uint8Array;

/** Hides the secrets of resources. `registry` resolves the content of `Any`s; default: Envoy's messages. */
export function createRedactedBody(registry?: Registry): RedactedBody {
  return perObject((resource: Resource) => redact(resource, registry ?? envoyRegistry()));
}

const nothing = new Uint8Array();

function redact({ type, body }: Resource, registry: Registry): Uint8Array {
  const schema = schemaOf(typeNameOf(type.typeUrl), registry) ?? type.schema;
  if (schema === undefined) return nothing;
  const message = redactMessage(schema, fromBinary(schema, body), createUnpack(registry));
  const after = knownBytes(schema, message);
  // Most resources have no secrets and share one body.
  return Buffer.compare(after, body) === 0 ? body : after;
}
