import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../text/source-document.js";
import { bootstrapForm } from "./bootstrap.js";
import { clientStatusForm } from "./client-status.js";
import { clusterStatusesForm } from "./cluster-statuses.js";
import { configDumpForm } from "./config-dump.js";
import { type Form, fieldOf } from "./form.js";
import { podDumpsForm, translationForm } from "./pod-dumps.js";
import { untypedListForm, untypedType } from "./untyped-list.js";

const forms = [bootstrapForm, configDumpForm, clientStatusForm, clusterStatusesForm, translationForm, podDumpsForm];

/** The form of a document that is not a resource, a list of resources or a response; undefined if it is unknown. */
export function formOf(value: JsonValue): Form | undefined {
  if (Array.isArray(value)) return untypedListForm(value);
  if (!isObject(value)) return undefined;
  // Nearly all documents say their type, and it is none of these.
  const url = value["@type"];
  if (typeof url === "string" && !/envoy\.(admin|config\.bootstrap|service\.status)\./.test(url)) return undefined;
  for (const form of forms) {
    const found = form(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A guess at the type of an object without `"@type"`; empty if nothing tells. */
export function hintFor(object: JsonObject): string {
  const type = untypedType(object);
  if (type !== undefined) return `: its fields are those of "type.googleapis.com/${type}"`;
  if (fieldOf(object, "configs") !== undefined)
    return ": this looks like a config dump, in which each of configs has the type of a section, such as envoy.admin.v3.ClustersConfigDump";
  if (fieldOf(object, "xds_servers") !== undefined)
    return ": this is the bootstrap of a gRPC client, which belongs to the client";
  if (typeof object.apiVersion === "string" && typeof object.kind === "string")
    return ": this is an object of Kubernetes; `egctl x translate` makes resources of those of Envoy Gateway";
  if (typeof object.node === "object" || typeof object.admin === "object")
    return ": this looks like an Envoy's bootstrap without resources (static_resources)";
  return "";
}
