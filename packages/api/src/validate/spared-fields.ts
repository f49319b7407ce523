import type { DescField } from "@bufbuild/protobuf";
import type { FieldPath } from "../errors/field-path.js";

const connectionManager = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/**
 * Whether a field may break a rule of the protos at its place. This applies to the stat prefix of a connection manager
 * in an API listener: gRPC's clients read such listeners (A27), use no stat prefix and accept a manager without one, as
 * other control planes send it. Envoy accepts an API listener only from its bootstrap.
 */
export function isSpared(field: DescField, path: FieldPath | undefined): boolean {
  return (
    field.name === "stat_prefix" &&
    path?.step === "api_listener" &&
    field.kind === "field" &&
    field.parent.typeName === connectionManager
  );
}

/** Whether a path is inside an API listener, which only gRPC's clients read from a server. */
export function isOfGrpc(path: FieldPath | undefined): boolean {
  for (let at = path; at !== undefined; at = at.parent) if (at.step === "api_listener") return true;
  return false;
}
