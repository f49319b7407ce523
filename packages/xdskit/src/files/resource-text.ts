import type { ResourceName, Version } from "@xdskit/api";

/** The fields of a wrapper (`envoy.service.discovery.v3.Resource`). */
export interface Wrapper {
  readonly name: ResourceName;
  readonly version?: Version | undefined;
  readonly aliases?: readonly ResourceName[] | undefined;
  /** Milliseconds. */
  readonly ttl?: number | undefined;
}

/** A resource in its wrapper, as JSON. `bare` is the resource's own JSON. */
export function wrapped({ name, version, aliases = [], ttl }: Wrapper, bare: string): string {
  const head = {
    "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
    name,
    ...(version === undefined || version === "" ? {} : { version }),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...(ttl === undefined ? {} : { ttl: `${ttl / 1_000}s` }),
  };
  return `${JSON.stringify(head).slice(0, -1)},"resource":${bare}}`;
}
