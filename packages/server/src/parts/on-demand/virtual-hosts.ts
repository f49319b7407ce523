import { createResource, type Resource, type ResourceName } from "@xdskit/api";
import type { VirtualHost } from "@xdskit/api/envoy/config/route/v3/route_components";

/** The parts of a virtual host's name in VHDS. */
export interface VirtualHostName {
  readonly routeConfiguration: ResourceName;
  /** As in the request, so with a port if the client gave one. */
  readonly host: string;
}

/** Splits `<route configuration>/<host>` at the last slash (rule 139); undefined if there is none. */
export function splitVirtualHostName(name: ResourceName): VirtualHostName | undefined {
  const slash = name.lastIndexOf("/");
  if (slash < 0) return undefined;
  return { routeConfiguration: name.slice(0, slash), host: name.slice(slash + 1) };
}

/**
 * Makes the resource for a virtual host that was requested as `<route configuration>/<host>`. Resource and message are
 * named `<route configuration>/<its own name>`, since Envoy finds the message by that name when it is removed. Its
 * aliases are the requested name and `<route configuration>/<domain>` for every exact domain, so that a host requested
 * by several of them is one copy (rules 135, 136). The given message is not changed.
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
