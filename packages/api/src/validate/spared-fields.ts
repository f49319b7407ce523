import type { DescField } from "@bufbuild/protobuf";
import type { FieldPath } from "../field-path.js";

const connectionManager = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/**
 * Whether nobody minds that a field breaks a rule of the protos where it stands. It is so for the statistics' prefix of a connection manager in an API listener:
 * such listeners are read by gRPC's clients (A27), which count nothing under it and take a manager without, as other control planes give them. Envoy takes an API
 * listener from its bootstrap alone.
 */
export function isSpared(field: DescField, path: FieldPath | undefined): boolean {
  return (
    field.name === "stat_prefix" &&
    path?.step === "api_listener" &&
    field.kind === "field" &&
    field.parent.typeName === connectionManager
  );
}

/** Whether a place is in an API listener, which gRPC's clients read: Envoy takes such listeners from its bootstrap alone. */
export function isOfGrpc(path: FieldPath | undefined): boolean {
  for (let at = path; at !== undefined; at = at.parent) if (at.step === "api_listener") return true;
  return false;
}
