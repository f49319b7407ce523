import { createResource, type Resource, type ResourceName } from "@xdskit/api";
import type { VirtualHost } from "@xdskit/api/envoy/config/route/v3/route_components";

/** What the name of a virtual host in VHDS says. */
export interface VirtualHostName {
  readonly routeConfiguration: ResourceName;
  /** As in the request, so with a port where the client gave one. */
  readonly host: string;
}

/** Splits `<route configuration>/<host>` at the last slash (rule 139); undefined for what has none. */
export function splitVirtualHostName(name: ResourceName): VirtualHostName | undefined {
  const slash = name.lastIndexOf("/");
  if (slash < 0) return undefined;
  return { routeConfiguration: name.slice(0, slash), host: name.slice(slash + 1) };
}

/**
 * Makes the resource of a virtual host that was asked for as `<route configuration>/<host>`. It is named `<route configuration>/<its own name>`, and so is the message
 * in it, since Envoy finds it by that when it is removed. Its aliases are what was asked for and `<route configuration>/<domain>` of every exact domain: asked for by several
 * of them it is one copy (rules 135, 136). The message that is given is not changed.
 *
 * Throws an XdskitError as `createResource` does.
 */
export function virtualHostResource(asked: ResourceName, virtualHost: VirtualHost): Resource {
  const split = splitVirtualHostName(asked);
  const prefix = split === undefined ? "" : `${split.routeConfiguration}/`;
  const name = virtualHost.name.startsWith(prefix) ? virtualHost.name : `${prefix}${virtualHost.name}`;
  const named: VirtualHost = { ...virtualHost, name };
  const domains = virtualHost.domains.filter((domain) => !domain.includes("*")).map((domain) => `${prefix}${domain}`);
  return createResource(named, { name, aliases: [asked, ...domains].filter((alias) => alias !== name) });
}
