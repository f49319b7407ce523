import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import {
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { ads, perType, type TypeName, urlOf } from "../running-server.js";
import type { RawClient, RawStream } from "./raw-client.js";
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

/** A stream of a client, the types that it carries, and how many responses it has answered. */
interface AnsweredStream {
  readonly raw: RawStream;
  readonly types: readonly TypeName[];
  answered: number;
}

/**
 * A client of four types that uses what it accepts, answers when a test says so and asks for other names when a test
 * says so.
 */
export class UsingClient {
  readonly settings: ClientSettings;
  readonly #streams: readonly AnsweredStream[];
  readonly #lasts = new Map<TypeName, { readonly nonce: string; readonly version: string }>();
  #rejects = false;
  #hasRejected = false;

  constructor(client: RawClient, settings: ClientSettings) {
    const { variant, isPerType, asked, inUse } = settings;
    this.settings = settings;
    const types = [...asked.keys()];
    this.#streams = (isPerType ? types.map((type) => [type]) : [types]).map((list) => {
      const [only] = list;
      const raw = client.open(isPerType && only !== undefined ? perType(variant, only) : ads(variant));
      return { raw, types: list, answered: 0 };
    });
    for (const type of types) {
      const names = [...(asked.get(type) ?? [])];
      const used = inUse.get(type) ?? new Map<string, Used>();
      for (const name of used.keys()) if (names.length > 0 && !names.includes(name)) used.delete(name);
      const claims = Object.fromEntries(Array.from(used, ([name, { version }]) => [name, version]));
      this.#say(type, variant === "sotw" ? {} : { resourceNamesSubscribe: names, initialResourceVersions: claims });
    }
  }

  /** Answers all received responses, or one response of some streams only; false if there is none. */
  answer(isSlow: (() => boolean) | undefined): boolean {
    let any = false;
    for (const stream of this.#streams) {
      if (isSlow !== undefined) any = (!isSlow() && this.#answerOne(stream)) || any;
      else while (this.#answerOne(stream)) any = true;
    }
    return any;
  }

  /**
   * Sets whether it rejects the next possible response. Returns whether it has rejected one since the last call with
   * false.
   */
  reject(next: boolean): boolean {
    const before = this.#hasRejected;
    this.#rejects = next;
    if (!next) this.#hasRejected = false;
    return before;
  }

  /**
   * Subscribes to a name or unsubscribes from it. Does nothing for types with a wildcard. Never drops the last name.
   */
  toggle(type: TypeName, name: string): void {
    const { variant, asked, inUse } = this.settings;
    const names = asked.get(type);
    if (names === undefined || names.size === 0 || (variant === "sotw" && !this.#lasts.has(type))) return;
    const isDropped = names.has(name);
    if (isDropped && names.size === 1) return;
    if (isDropped) {
      names.delete(name);
      inUse.get(type)?.delete(name);
    } else names.add(name);
    if (variant === "sotw") this.#say(type, {});
    else this.#say(type, isDropped ? { resourceNamesUnsubscribe: [name] } : { resourceNamesSubscribe: [name] });
  }

  leave(): void {
    for (const { raw } of this.#streams) raw.cancel();
  }

  #say(type: TypeName, more: object): void {
    const { id, cluster, variant, asked } = this.settings;
    const raw = this.#streams.find(({ types }) => types.includes(type))?.raw;
    if (raw === undefined) return;
    const node = { id, cluster };
    const typeUrl = urlOf(type);
    const { nonce: responseNonce, version: versionInfo } = this.#lasts.get(type) ?? {};
    const names = [...(asked.get(type) ?? [])];
    if (variant === "sotw") {
      const answer = responseNonce === undefined ? {} : { responseNonce, versionInfo: versionInfo ?? "" };
      sotw(raw).send({ node, typeUrl, resourceNames: names, ...answer, ...more });
    } else delta(raw).send({ node, typeUrl, ...more });
  }

  /** Answers the oldest response of one stream; false if there is none. */
  #answerOne(stream: AnsweredStream): boolean {
    const bytes = stream.raw.responses[stream.answered];
    if (bytes === undefined) return false;
    stream.answered += 1;
    const isNewest = stream.answered === stream.raw.responses.length;
    const response =
      this.settings.variant === "sotw"
        ? fromBinary(DiscoveryResponseSchema, bytes)
        : fromBinary(DeltaDiscoveryResponseSchema, bytes);
    const type = typeNames.find((each) => urlOf(each) === response.typeUrl) ?? "cluster";
    if (this.#rejects && isNewest) {
      this.#rejects = false;
      this.#hasRejected = true;
      this.#say(type, { responseNonce: response.nonce, errorDetail: { code: 3, message: "no" } });
    } else if ("removedResources" in response) this.#useDelta(type, response);
    else this.#useSotw(type, response);
    return true;
  }

  #useDelta(type: TypeName, { nonce, resources, removedResources }: DeltaDiscoveryResponse): void {
    const used = this.settings.inUse.get(type) ?? new Map<string, Used>();
    const names = this.settings.asked.get(type);
    for (const name of removedResources) used.delete(name);
    for (const { name, version, resource } of resources) {
      if (resource !== undefined && (names?.size === 0 || names?.has(name)))
        used.set(name, { version, content: hex(resource.value) });
    }
    this.#say(type, { responseNonce: nonce });
  }

  #useSotw(type: TypeName, { nonce, versionInfo, resources }: DiscoveryResponse): void {
    const used = this.settings.inUse.get(type) ?? new Map<string, Used>();
    if (fullStates.includes(type)) used.clear();
    for (const { value } of resources) {
      const { name } = createResource(fromBinary(schemas[type] as typeof ClusterSchema, value));
      used.set(name, { version: "", content: hex(value) });
    }
    this.#lasts.set(type, { nonce, version: versionInfo });
    this.#say(type, {});
  }
}
