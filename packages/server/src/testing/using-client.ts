import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { RawClient } from "./raw-client.js";
import { ads, perType, type TypeName, urlOf } from "./running-server.js";
import { delta, sotw } from "./xds-client.js";

export const typeNames: readonly TypeName[] = ["cluster", "endpoint", "listener", "route"];
const fullStates: readonly TypeName[] = ["cluster", "listener"];
const schemas = {
  cluster: ClusterSchema,
  endpoint: ClusterLoadAssignmentSchema,
  listener: ListenerSchema,
  route: RouteConfigurationSchema,
};

/** A content for comparisons. */
export function contentOf(type: TypeName, message: Message): string {
  return hex(toBinary(schemas[type] as typeof ClusterSchema, message as never));
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

interface Used {
  /** Of delta. */
  readonly version: string;
  readonly content: string;
}

/** The resources that a client uses, by type and name. */
export type InUse = ReadonlyMap<TypeName, Map<string, Used>>;

export const nothingInUse = (): InUse => new Map(typeNames.map((type) => [type, new Map()]));

/** The settings of a client. */
export interface ClientSettings {
  readonly id: string;
  readonly cluster: string;
  readonly variant: "sotw" | "delta";
  readonly isPerType: boolean;
  /** The requested names, by type; an empty set means all. Other types are not requested. */
  readonly asked: ReadonlyMap<TypeName, Set<string>>;
  /** The resources of a previous stream, which a delta client claims. */
  readonly inUse: InUse;
}

/**
 * A client of four types that uses what it accepts, answers when a test says so and asks for other names when a test
 * says so.
 */
export type UsingClient = ReturnType<typeof usingClient>;

export function usingClient(client: RawClient, settings: ClientSettings) {
  const { id, cluster, variant, isPerType, asked, inUse } = settings;
  const types = [...asked.keys()];
  const node = { id, cluster };
  const lasts = new Map<TypeName, { readonly nonce: string; readonly version: string }>();
  let rejects = false;
  let hasRejected = false;
  const streams = (isPerType ? types.map((type) => [type]) : [types]).map((list) => {
    const [only] = list;
    const raw = client.open(isPerType && only !== undefined ? perType(variant, only) : ads(variant));
    return { raw, list, answered: 0 };
  });

  function say(type: TypeName, more: object): void {
    const raw = streams.find(({ list }) => list.includes(type))?.raw;
    if (raw === undefined) return;
    const typeUrl = urlOf(type);
    const { nonce: responseNonce, version: versionInfo } = lasts.get(type) ?? {};
    const names = [...(asked.get(type) ?? [])];
    if (variant === "sotw") {
      const answer = responseNonce === undefined ? {} : { responseNonce, versionInfo: versionInfo ?? "" };
      sotw(raw).send({ node, typeUrl, resourceNames: names, ...answer, ...more });
    } else delta(raw).send({ node, typeUrl, ...more });
  }
  for (const type of types) {
    const names = [...(asked.get(type) ?? [])];
    const used = inUse.get(type) ?? new Map<string, Used>();
    for (const name of used.keys()) if (names.length > 0 && !names.includes(name)) used.delete(name);
    const claims = Object.fromEntries(Array.from(used, ([name, { version }]) => [name, version]));
    say(type, variant === "sotw" ? {} : { resourceNamesSubscribe: names, initialResourceVersions: claims });
  }

  /** Answers the oldest response of one stream; false if there is none. */
  function answer(stream: (typeof streams)[number]): boolean {
    const bytes = stream.raw.responses[stream.answered];
    if (bytes === undefined) return false;
    stream.answered += 1;
    const isNewest = stream.answered === stream.raw.responses.length;
    const response =
      variant === "sotw" ? fromBinary(DiscoveryResponseSchema, bytes) : fromBinary(DeltaDiscoveryResponseSchema, bytes);
    const type = typeNames.find((each) => urlOf(each) === response.typeUrl) ?? "cluster";
    const { nonce: responseNonce } = response;
    if (rejects && isNewest) {
      rejects = false;
      hasRejected = true;
      say(type, { responseNonce, errorDetail: { code: 3, message: "no" } });
      return true;
    }
    const used = inUse.get(type) ?? new Map<string, Used>();
    const names = asked.get(type);
    if ("removedResources" in response) {
      for (const name of response.removedResources) used.delete(name);
      for (const { name, version, resource } of response.resources) {
        if (resource !== undefined && (names?.size === 0 || names?.has(name)))
          used.set(name, { version, content: hex(resource.value) });
      }
      say(type, { responseNonce });
    } else {
      if (fullStates.includes(type)) used.clear();
      for (const { value } of response.resources) {
        const { name } = createResource(fromBinary(schemas[type] as typeof ClusterSchema, value));
        used.set(name, { version: "", content: hex(value) });
      }
      lasts.set(type, { nonce: responseNonce, version: response.versionInfo });
      say(type, {});
    }
    return true;
  }

  return {
    ...settings,
    /** Answers all received responses, or one response of some streams only; false if there is none. */
    answer(isSlow: (() => boolean) | undefined): boolean {
      let any = false;
      for (const stream of streams) {
        if (isSlow !== undefined) any = (!isSlow() && answer(stream)) || any;
        else while (answer(stream)) any = true;
      }
      return any;
    },
    /**
     * Sets whether it rejects the next possible response. Returns whether it has rejected one since the last call with
     * false.
     */
    reject(next: boolean): boolean {
      const before = hasRejected;
      rejects = next;
      if (!next) hasRejected = false;
      return before;
    },
    /**
     * Subscribes to a name or unsubscribes from it. Does nothing for types with a wildcard, and never drops the last
     * name.
     */
    toggle(type: TypeName, name: string): void {
      const names = asked.get(type);
      if (names === undefined || names.size === 0 || (variant === "sotw" && !lasts.has(type))) return;
      const isDropped = names.has(name);
      if (isDropped && names.size === 1) return;
      if (isDropped) {
        names.delete(name);
        inUse.get(type)?.delete(name);
      } else names.add(name);
      if (variant === "sotw") say(type, {});
      else say(type, isDropped ? { resourceNamesUnsubscribe: [name] } : { resourceNamesSubscribe: [name] });
    },
    leave(): void {
      for (const { raw } of streams) raw.cancel();
    },
  };
}
