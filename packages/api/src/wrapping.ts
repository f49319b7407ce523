import type { Duration } from "@bufbuild/protobuf/wkt";
import type { ResourceName } from "./identifiers.js";

/** The form that Envoy reads from a file. */
export const responseName = "envoy.service.discovery.v3.DiscoveryResponse";
/** The message that gives another a name, aliases or a TTL. */
export const wrapperName = "envoy.service.discovery.v3.Resource";

/** What an `envoy.service.discovery.v3.Resource` around a message says about it. */
export interface Wrapping {
  readonly name?: ResourceName | undefined;
  readonly aliases?: readonly ResourceName[] | undefined;
  /** In milliseconds. */
  readonly ttl?: number | undefined;
}

/** What a wrapper says, given as the message. */
export function wrappingOf(wrapper: object): Wrapping {
  const { name, aliases, ttl } = wrapper as { name: string; aliases: string[]; ttl?: Duration | undefined };
  return {
    name: name === "" ? undefined : name,
    aliases,
    ttl: ttl === undefined ? undefined : Number(ttl.seconds) * 1000 + ttl.nanos / 1e6,
  };
}
