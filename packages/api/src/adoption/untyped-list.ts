import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../text/source-document.js";
import { isStatus, takeStatus } from "./cluster-statuses.js";
import { takeLoadAssignment } from "./dump-endpoints.js";
import { type Form, fieldOf, type Taker, textOf, typeNames } from "./form.js";

/**
 * Fields that only messages of one type have, among the types that are listed this way. They are tried in this order.
 */
const fieldsThatTell: readonly (readonly [type: string, fields: readonly string[]])[] = [
  [
    typeNames.route,
    [
      "virtual_hosts",
      "vhds",
      "validate_clusters",
      "ignore_port_in_host_matching",
      "max_direct_response_body_size_bytes",
    ],
  ],
  [typeNames.listener, ["filter_chains", "default_filter_chain", "api_listener", "listener_filters", "address"]],
  [
    typeNames.cluster,
    [
      "connect_timeout",
      "load_assignment",
      "eds_cluster_config",
      "cluster_type",
      "lb_policy",
      "type",
      "transport_socket",
    ],
  ],
  [typeNames.endpoint, ["cluster_name"]],
  [typeNames.secret, ["tls_certificate", "validation_context", "generic_secret", "session_ticket_keys"]],
];

/**
 * A list of resources of one type, without their types, as `istioctl proxy-config cluster -o json` and similar commands
 * print it.
 */
export function untypedListForm(value: JsonValue): Form | undefined {
  if (!Array.isArray(value)) return undefined;
  const [first] = value;
  if (!isObject(first) || (untypedType(first) === undefined && !isStatus(first))) return undefined;
  return { name: "a list without types, as istioctl prints it", isDump: true, take: (taker) => takeList(value, taker) };
}

/** The type of an object without `"@type"`, if its fields tell. */
export function untypedType(object: JsonObject): string | undefined {
  if ("@type" in object || isStatus(object)) return undefined;
  return fieldsThatTell.find(([, fields]) => fields.some((field) => fieldOf(object, field) !== undefined))?.[0];
}

function takeList(list: readonly JsonValue[], taker: Taker): void {
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index] as JsonValue;
    if (!isObject(item)) {
      taker.take(item, [index]);
      continue;
    }
    const type = untypedType(item);
    if (isStatus(item)) takeStatus({ object: item, steps: [index] }, taker);
    else if (type === typeNames.endpoint) takeLoadAssignment(item, [index], taker, type);
    // A route configuration without a name is part of a listener. istioctl lists it separately as well.
    else if (type === typeNames.route && textOf(item, "name") === undefined)
      taker.leaveOut("route inside a listener", 1);
    else taker.take(item, [index], { type });
  }
}
