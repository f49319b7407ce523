import type { JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../text/source-document.js";
import { takeSections } from "./config-dump.js";
import { type Form, type FormPart, fieldOf, objectIn, objectsIn, type Taker, textOf, typeOfForm } from "./form.js";

/**
 * The resources that clients have, as the status service (CSDS) lists them: `ClientStatusResponse`, or the
 * `ClientConfig` of one.
 */
export function clientStatusForm(value: JsonValue): Form | undefined {
  if (!isObject(value)) return undefined;
  const type = typeOfForm(value);
  if (type !== undefined && !/^envoy\.service\.status\.v\d\w*\.Client(Config|StatusResponse)$/.test(type)) {
    return undefined;
  }
  const clients = fieldOf(value, "config");
  const isResponse = Array.isArray(clients) && clients.length > 0 && clients.every(isClient);
  if (!isResponse && !isClient(value)) return undefined;
  const root: FormPart = { object: value, steps: [] };
  return {
    name: "the answer of a status service (CSDS)",
    isDump: true,
    take(taker) {
      for (const client of isResponse ? objectsIn(root, "config", taker) : [root]) takeClient(client, taker);
    },
  };
}

function isClient(value: JsonValue): boolean {
  return (
    isObject(value) &&
    (Array.isArray(fieldOf(value, "generic_xds_configs")) || Array.isArray(fieldOf(value, "xds_config")))
  );
}

/** The field of each section in the form before `generic_xds_configs`. */
const sectionFields = [
  "listener_config",
  "cluster_config",
  "route_config",
  "scoped_route_config",
  "endpoint_config",
  "ecds_config",
];

function takeClient(client: FormPart, taker: Taker): void {
  for (const config of objectsIn(client, "generic_xds_configs", taker)) takeGeneric(config, taker);
  const sections: FormPart[] = [];
  for (const config of objectsIn(client, "xds_config", taker)) {
    for (const field of sectionFields) {
      const section = objectIn(config, field, taker);
      if (section !== undefined) sections.push(section);
    }
  }
  takeSections(sections, taker);
}

function takeGeneric({ object, steps }: FormPart, taker: Taker): void {
  if (fieldOf(object, "error_state") !== undefined) taker.leaveOut("rejected resource", 1);
  const item = fieldOf(object, "xds_config");
  if (item === undefined) taker.leaveOut("resource without content", 1);
  else taker.take(item, [...steps, "xds_config"], { name: textOf(object, "name") });
}
