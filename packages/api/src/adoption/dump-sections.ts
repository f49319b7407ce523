import type { JsonObject } from "@bufbuild/protobuf";
import { isObject } from "../text/source-document.js";
import { type StaticList, serverCluster, takeBootstrap } from "./bootstrap.js";
import { type EndpointsWanted, takeEndpoints } from "./dump-endpoints.js";
import { type FormPart, fieldOf, objectIn, objectsIn, type TakeAs, type Taker, textOf, typeOfForm } from "./form.js";
import { ListenerNames } from "./listener-names.js";

/** Facts from the other sections of the same dump. */
export interface DumpContext {
  /** Lists of the bootstrap that also have their own section. */
  readonly known: ReadonlySet<StaticList>;
  readonly endpoints: EndpointsWanted;
  /** Clusters by which the Envoy reaches its management servers. */
  readonly servers: ReadonlySet<string>;
}

/** Takes the resources of one section of a dump, such as `ClustersConfigDump`. */
export type TakeSection = (section: FormPart, taker: Taker, context: DumpContext) => void;

/** The sections by their names in `envoy.admin.v3`. */
export const sections: Readonly<Record<string, TakeSection>> = {
  BootstrapConfigDump(section, taker, { known }) {
    const bootstrap = objectIn(section, "bootstrap", taker);
    if (bootstrap !== undefined) takeBootstrap(bootstrap, taker, known);
  },
  ClustersConfigDump(section, taker, { servers }) {
    for (const part of objectsIn(section, "static_clusters", taker)) {
      if (servers.has(textOf(objectOf(part.object, "cluster"), "name") ?? "")) taker.leaveOut(serverCluster, 1);
      else takeEntry(part, "cluster", taker);
    }
    for (const part of objectsIn(section, "dynamic_active_clusters", taker)) takeEntry(part, "cluster", taker);
    leaveOutList(section, "dynamic_warming_clusters", "warming cluster", taker);
  },
  ListenersConfigDump(section, taker) {
    const fixed = [...objectsIn(section, "static_listeners", taker)];
    const names = new ListenerNames(fixed.map(({ object }) => objectOf(object, "listener")));
    for (const part of fixed) {
      const name = names.nameFor(objectOf(part.object, "listener"));
      takeEntry(part, "listener", taker, { name });
    }
    for (const part of objectsIn(section, "dynamic_listeners", taker)) takeListener(part, taker);
  },
  RoutesConfigDump(section, taker) {
    leaveOutList(section, "static_route_configs", "route inside a listener", taker);
    for (const part of objectsIn(section, "dynamic_route_configs", taker)) takeEntry(part, "route_config", taker);
  },
  ScopedRoutesConfigDump(section, taker) {
    leaveOutList(section, "inline_scoped_route_configs", "list of scoped routes inside a listener", taker);
    for (const part of objectsIn(section, "dynamic_scoped_route_configs", taker)) {
      tellState(part.object, "scoped-route", taker);
      for (const { object, steps } of objectsIn(part, "scoped_route_configs", taker)) taker.take(object, steps);
    }
  },
  EndpointsConfigDump(section, taker, { endpoints }) {
    takeEndpoints(section, taker, endpoints);
  },
  SecretsConfigDump(section, taker) {
    for (const list of ["static_secrets", "dynamic_active_secrets"]) {
      for (const part of objectsIn(section, list, taker)) {
        takeEntry(part, "secret", taker, { name: textOf(part.object, "name") });
      }
    }
    leaveOutList(section, "dynamic_warming_secrets", "warming secret", taker);
  },
  EcdsConfigDump(section, taker) {
    for (const part of objectsIn(section, "ecds_filters", taker)) {
      const filter = fieldOf(part.object, "ecds_filter");
      // Envoy also lists those that have not arrived yet.
      if (isObject(filter) && fieldOf(filter, "typed_config") === undefined)
        taker.leaveOut("extension-config without content", 1);
      else takeEntry(part, "ecds_filter", taker);
    }
  },
};

/** The lists of each section, for elements that Envoy prints without a section (`/config_dump?resource=…`). */
const listsOfElements: Readonly<Record<string, string>> = {
  "ClustersConfigDump.StaticCluster": "static_clusters",
  "ClustersConfigDump.DynamicCluster": "dynamic_active_clusters",
  "ListenersConfigDump.StaticListener": "static_listeners",
  "ListenersConfigDump.DynamicListener": "dynamic_listeners",
  "RoutesConfigDump.StaticRouteConfig": "static_route_configs",
  "RoutesConfigDump.DynamicRouteConfig": "dynamic_route_configs",
  "ScopedRoutesConfigDump.InlineScopedRouteConfigs": "inline_scoped_route_configs",
  "ScopedRoutesConfigDump.DynamicScopedRouteConfigs": "dynamic_scoped_route_configs",
  "EndpointsConfigDump.StaticEndpointConfig": "static_endpoint_configs",
  "EndpointsConfigDump.DynamicEndpointConfig": "dynamic_endpoint_configs",
  "SecretsConfigDump.StaticSecret": "static_secrets",
  "SecretsConfigDump.DynamicSecret": "dynamic_active_secrets",
  "EcdsConfigDump.EcdsFilterConfig": "ecds_filters",
};

/** Fields that identify a section without `"@type"`. */
const fieldsOfSections: Readonly<Record<string, string>> = {
  bootstrap: "BootstrapConfigDump",
  dynamic_warming_clusters: "ClustersConfigDump",
  dynamic_warming_secrets: "SecretsConfigDump",
  ...Object.fromEntries(Object.entries(listsOfElements).map(([element, list]) => [list, element.split(".")[0] ?? ""])),
};

/** The name of a message of `envoy.admin` without its package: `ClustersConfigDump`. Undefined for others. */
export function adminType(object: JsonObject): string | undefined {
  return /^envoy\.admin\.v\d\w*\.([\w.]+)$/.exec(typeOfForm(object) ?? "")?.[1];
}

/** The name of the section that an object is; undefined if it is none. */
export function sectionOf(object: JsonObject): string | undefined {
  const own = adminType(object);
  if (own !== undefined) return Object.hasOwn(sections, own) ? own : undefined;
  if (typeOfForm(object) !== undefined) return undefined;
  const field = Object.keys(fieldsOfSections).find((name) => {
    const value = fieldOf(object, name);
    return name === "bootstrap" ? isObject(value) : Array.isArray(value);
  });
  return field === undefined ? undefined : fieldsOfSections[field];
}

/** The list that an object belongs to. */
export function listOfElement(object: JsonObject): string | undefined {
  const own = adminType(object);
  return own !== undefined && Object.hasOwn(listsOfElements, own) ? listsOfElements[own] : undefined;
}

/** A list entry, which holds its resource in a field. The field is missing if only a rejected resource ever arrived. */
function takeEntry({ object, steps }: FormPart, field: string, taker: Taker, as?: TakeAs): void {
  tellState(object, field.replace("_config", "").replace("ecds_filter", "extension-config"), taker);
  const item = fieldOf(object, field);
  if (item !== undefined) taker.take(item, [...steps, field], as);
}

function takeListener(part: FormPart, taker: Taker): void {
  const { object } = part;
  tellState(object, "listener", taker);
  const active = objectIn(part, "active_state", taker);
  const item = active && fieldOf(active.object, "listener");
  if (active !== undefined && item !== undefined) {
    taker.take(item, [...active.steps, "listener"], { name: textOf(object, "name") });
  }
  if (fieldOf(object, "warming_state") !== undefined) taker.leaveOut("warming listener", 1);
  if (fieldOf(object, "draining_state") !== undefined) taker.leaveOut("draining listener", 1);
}

/** Envoy does not use a resource that it rejected. */
function tellState(object: JsonObject, what: string, taker: Taker): void {
  if (fieldOf(object, "error_state") !== undefined) taker.leaveOut(`rejected ${what}`, 1);
}

function leaveOutList(section: FormPart, field: string, what: string, taker: Taker): void {
  const list = fieldOf(section.object, field);
  if (Array.isArray(list) && list.length > 0) taker.leaveOut(what, list.length);
}

function objectOf(object: JsonObject, field: string): JsonObject {
  const value = fieldOf(object, field);
  return isObject(value) ? value : {};
}
