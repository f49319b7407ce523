import type { JsonValue } from "@bufbuild/protobuf";
import { didYouMean } from "../errors/nearest-name.js";
import { isObject } from "../text/source-document.js";
import { serversOfBootstrap } from "./config-sources.js";
import {
  type Form,
  type FormPart,
  fieldOf,
  objectIn,
  objectsIn,
  protoNameOf,
  type Taker,
  textOf,
  typeNames,
  typeOfForm,
} from "./form.js";
import { ListenerNames } from "./listener-names.js";

/** Every bootstrap has one of these, and nothing else does. */
const fieldsThatTell = ["static_resources", "dynamic_resources", "layered_runtime", "bootstrap_extensions"];

/** An Envoy's bootstrap, with the resources in it. */
export function bootstrapForm(value: JsonValue): Form | undefined {
  if (!isObject(value)) return undefined;
  const type = typeOfForm(value);
  const isBootstrap =
    type === undefined
      ? fieldsThatTell.some((field) => fieldOf(value, field) !== undefined)
      : /^envoy\.config\.bootstrap\.v\d\w*\.Bootstrap$/.test(type);
  if (!isBootstrap) return undefined;
  return {
    name: "an Envoy bootstrap",
    isDump: false,
    take: (taker) => takeBootstrap({ object: value, steps: [] }, taker, new Set()),
  };
}

/** The name of the cluster by which an Envoy reaches its management server. */
export const serverCluster = "cluster of a management server";

/** A list of `static_resources`. */
export type StaticList = "listeners" | "clusters" | "secrets";

const staticLists: Readonly<Record<StaticList, string>> = {
  listeners: typeNames.listener,
  clusters: typeNames.cluster,
  secrets: typeNames.secret,
};

/** Takes the resources of a bootstrap, except for the lists that were taken from another section. */
export function takeBootstrap(bootstrap: FormPart, taker: Taker, known: ReadonlySet<StaticList>): void {
  const staticResources = objectIn(bootstrap, "static_resources", taker);
  if (staticResources !== undefined) {
    takeLists(staticResources, taker, known, serversOfBootstrap(bootstrap.object));
    tellUnknown(staticResources, taker, "static_resources");
  }
  takeLayers(bootstrap, taker);
  tellUnknown(bootstrap, taker, undefined);
  for (const key of Object.keys(bootstrap.object)) {
    const field = protoNameOf(key);
    if (!["@type", "static_resources", "layered_runtime"].includes(field) && isField(taker, undefined, field))
      taker.leaveOut(field);
  }
}

function takeLists(
  staticResources: FormPart,
  taker: Taker,
  known: ReadonlySet<StaticList>,
  servers: ReadonlySet<string>,
): void {
  for (const list of ["secrets", "clusters", "listeners"] as const) {
    if (known.has(list)) continue;
    const parts = [...objectsIn(staticResources, list, taker)];
    const names = list === "listeners" ? new ListenerNames(parts.map(({ object }) => object)) : undefined;
    for (const { object, steps } of parts) {
      if (list === "clusters" && servers.has(textOf(object, "name") ?? "")) taker.leaveOut(serverCluster, 1);
      else taker.take(object, steps, { type: staticLists[list], name: names?.nameFor(object) });
    }
  }
}

/** The values of a static layer are a resource that an Envoy may request by the layer's name. */
function takeLayers(bootstrap: FormPart, taker: Taker): void {
  const runtime = objectIn(bootstrap, "layered_runtime", taker);
  if (runtime === undefined) return;
  for (const { object, steps } of objectsIn(runtime, "layers", taker)) {
    const layer = fieldOf(object, "static_layer");
    if (layer === undefined) taker.leaveOut("runtime layer without values", 1);
    else taker.take({ name: textOf(object, "name") ?? "", layer }, steps, { type: typeNames.runtime });
  }
}

/** A misspelled key would otherwise be dropped silently. */
function tellUnknown({ object, steps }: FormPart, taker: Taker, field: string | undefined): void {
  const names = fieldNames(taker, field);
  if (names === undefined) return;
  for (const key of Object.keys(object)) {
    if (key === "@type" || names.has(protoNameOf(key))) continue;
    const message = `is not a field of a bootstrap${field === undefined ? "" : `'s ${field}`}, and left out`;
    taker.find("XDSKIT_FIELD_UNKNOWN", () => message + didYouMean(key, names), [...steps, key], "warning");
  }
}

function isField(taker: Taker, field: string | undefined, name: string): boolean {
  return fieldNames(taker, field)?.has(name) ?? true;
}

function fieldNames({ registry }: Taker, field: string | undefined): ReadonlySet<string> | undefined {
  const bootstrap = registry.getMessage("envoy.config.bootstrap.v3.Bootstrap");
  const schema = field === undefined ? bootstrap : bootstrap?.fields.find(({ name }) => name === field)?.message;
  return schema === undefined ? undefined : new Set(schema.fields.map(({ name }) => name));
}
