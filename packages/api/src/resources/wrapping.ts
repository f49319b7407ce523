import type { Resource } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { XdskitError } from "../errors/errors.js";
import type { ResourceName } from "../names/identifiers.js";
import { type Constraints, constraintsOf } from "./variant.js";

/** The form of the files that Envoy reads. */
export const responseName = "envoy.service.discovery.v3.DiscoveryResponse";
/** The version in a `DiscoveryResponse` message. */
export function wrappedVersionOf(response: object): string {
  return (response as { readonly versionInfo: string }).versionInfo;
}

/** The message that gives another one a name, aliases, a TTL or constraints. */
export const wrapperName = "envoy.service.discovery.v3.Resource";

/** The facts in an `envoy.service.discovery.v3.Resource` about its message. */
export interface Wrapping {
  readonly name?: ResourceName | undefined;
  readonly aliases?: readonly ResourceName[] | undefined;
  /** In milliseconds. */
  readonly ttl?: number | undefined;
  /** The constraints of a variant. */
  readonly constraints?: Constraints | undefined;
  /** Why the wrapper is invalid. */
  readonly problem?: string | undefined;
}

/** Reads a wrapper's message. */
export function wrappingOf(wrapper: object): Wrapping {
  const { name: plain, resourceName, aliases, ttl } = wrapper as Resource;
  const name = resourceName?.name || plain;
  const constraints = readConstraints(resourceName?.dynamicParameterConstraints);
  return {
    name: name === "" ? undefined : name,
    ...constraints,
    ...(plain === "" || plain === name ? {} : { problem: "only one of name and resource_name may be set" }),
    aliases,
    ttl: ttl === undefined ? undefined : Number(ttl.seconds) * 1000 + ttl.nanos / 1e6,
  };
}

function readConstraints(message: object | undefined): Pick<Wrapping, "constraints" | "problem"> {
  if (message === undefined) return {};
  try {
    return { constraints: constraintsOf(message) };
  } catch (error) {
    if (error instanceof XdskitError) return { problem: error.findings[0]?.message };
    throw error;
  }
}
