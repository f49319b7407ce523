import { fromBinary } from "@bufbuild/protobuf";
import { type Any, anyUnpack } from "@bufbuild/protobuf/wkt";
import { createResource, envoyRegistry, type Resource } from "@xdskit/api";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { ads, perType, type TypeName, urlOf } from "../running-server.js";
import type { RawClient, RawStream } from "./raw-client.js";
import { delta, sotw } from "./xds-client.js";

const registry = envoyRegistry();

/** How a client asks. */
export interface PromptOptions {
  readonly id: string;
  readonly variant: "sotw" | "delta";
  /** One stream for all types, or one for each. */
  readonly isAggregated: boolean;
  /** The types that it asks for, in this order. Clusters and listeners: all; others by the names in what it has. */
  readonly types: readonly TypeName[];
  /** Its routes, where it asks for no listeners that name them. */
  readonly routes: readonly string[];
}

interface Line {
  readonly stream: RawStream;
  taken: number;
}

const wildcards: ReadonlySet<TypeName> = new Set(["cluster", "listener"]);

/** A client that answers at once: whatever is late, is late because of the server. */
export class PromptClient {
  readonly options: PromptOptions;
  readonly #current = new Map<TypeName, Map<string, Resource>>();
  readonly #versions = new Map<TypeName, string>();
  readonly #nonces = new Map<TypeName, string>();
  readonly #asked = new Map<TypeName, readonly string[]>();
  #lines = new Map<TypeName, Line>();
  #serves = false;

  constructor(options: PromptOptions) {
    this.options = options;
    for (const type of options.types) this.#current.set(type, new Map());
  }

  get id(): string {
    return this.options.id;
  }

  get isConnected(): boolean {
    return this.#lines.size > 0;
  }

  /** `claims`: it says which versions it has. `forgets`: it is a new process, and has nothing. */
  connect(client: RawClient, { claims, forgets }: { readonly claims: boolean; readonly forgets: boolean }): void {
    this.cut();
    const { variant, isAggregated, types } = this.options;
    this.#nonces.clear();
    this.#asked.clear();
    if (forgets) for (const current of this.#current.values()) current.clear();
    if (forgets || !claims) {
      this.#versions.clear();
      this.#serves = false;
    }
    const shared: Line | undefined = isAggregated ? { stream: client.open(ads(variant)), taken: 0 } : undefined;
    for (const type of types)
      this.#lines.set(type, shared ?? { stream: client.open(perType(variant, type)), taken: 0 });
    for (const type of types) {
      const names = this.#namesOf(type);
      if (names === undefined || names.length > 0) this.#begin(type, names ?? [], claims);
    }
  }

  cut(): void {
    for (const { stream } of this.#lines.values()) stream.cancel();
    this.#lines = new Map();
  }

  /** Takes the next response of any stream, and acknowledges or rejects it; false if there is none. */
  take(rejects = false): boolean {
    for (const line of new Set(this.#lines.values())) {
      const bytes = line.stream.responses[line.taken];
      if (bytes === undefined) continue;
      line.taken += 1;
      this.#take(bytes, rejects);
      return true;
    }
    return false;
  }

  /** The wanted resources that it asks for, and does not have as they are wanted. */
  lacks(wanted: readonly Resource[]): readonly string[] {
    const lacking = this.options.types.flatMap((type) => {
      const names = this.#namesOf(type);
      const mine = wanted.filter((one) => one.type.typeUrl === urlOf(type) && names?.includes(one.name) !== false);
      const current = this.#current.get(type);
      return mine.filter(({ name, version }) => current?.get(name)?.version !== version).map(({ name }) => name);
    });
    this.#serves ||= lacking.length === 0;
    return lacking;
  }

  /**
   * The routes that lead to a cluster which it does not have. None before it has had all that is wanted since it came
   * without saying what it has.
   */
  broken(): readonly string[] {
    const clusters = this.#current.get("cluster");
    if (clusters === undefined || !this.#serves) return [];
    return [...(this.#current.get("route")?.values() ?? [])].flatMap(({ name, references }) =>
      references
        .filter((one) => one.type === urlOf("cluster") && "name" in one && !clusters.has(one.name))
        .map(() => name),
    );
  }

  /** Undefined: all. */
  #namesOf(type: TypeName): readonly string[] | undefined {
    if (wildcards.has(type)) return undefined;
    const naming = type === "endpoint" ? "cluster" : "listener";
    if (!this.options.types.includes(naming))
      return type === "route" ? this.options.routes : (this.#asked.get(type) ?? []);
    const named = [...(this.#current.get(naming)?.values() ?? [])].flatMap(({ references }) =>
      references.filter((one) => one.type === urlOf(type)).map((one) => ("name" in one ? one.name : "")),
    );
    return [...new Set(named)];
  }

  #begin(type: TypeName, names: readonly string[], claims: boolean): void {
    this.#asked.set(type, names);
    const stream = this.#lines.get(type)?.stream;
    if (stream === undefined) return;
    const node = { id: this.options.id };
    if (this.options.variant === "sotw") {
      const versionInfo = this.#versions.get(type) ?? "";
      sotw(stream).send({ node, typeUrl: urlOf(type), resourceNames: [...names], versionInfo });
      return;
    }
    const current = claims ? [...(this.#current.get(type)?.values() ?? [])] : [];
    const initialResourceVersions = Object.fromEntries(current.map(({ name, version }) => [name, version]));
    delta(stream).send({ node, typeUrl: urlOf(type), resourceNamesSubscribe: [...names], initialResourceVersions });
  }

  #take(bytes: Uint8Array, rejects: boolean): void {
    const isSotw = this.options.variant === "sotw";
    const errorDetail = rejects ? { code: 3, message: "no" } : undefined;
    if (isSotw) {
      const { typeUrl, nonce, versionInfo, resources } = fromBinary(DiscoveryResponseSchema, bytes);
      const type = this.#typeOf(typeUrl);
      this.#nonces.set(type, nonce);
      if (!rejects) {
        if (wildcards.has(type)) this.#of(type).clear();
        for (const one of resources) this.#hold(type, one);
        this.#versions.set(type, versionInfo);
      }
      this.#follow(type);
      this.#say(type, { responseNonce: nonce, errorDetail });
    } else {
      const { typeUrl, nonce, resources, removedResources } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
      const type = this.#typeOf(typeUrl);
      if (!rejects) {
        for (const { resource } of resources) if (resource !== undefined) this.#hold(type, resource);
        for (const name of removedResources) this.#of(type).delete(name);
      }
      this.#follow(type);
      const stream = this.#lines.get(type)?.stream;
      if (stream !== undefined)
        delta(stream).send({ typeUrl, responseNonce: nonce, ...(errorDetail && { errorDetail }) });
    }
  }

  #say(type: TypeName, more: { readonly responseNonce?: string; readonly errorDetail?: object | undefined }): void {
    const stream = this.#lines.get(type)?.stream;
    if (stream === undefined) return;
    const versionInfo = this.#versions.get(type) ?? "";
    const { responseNonce = this.#nonces.get(type) ?? "", errorDetail } = more;
    const resourceNames = [...(this.#asked.get(type) ?? [])];
    const request = { typeUrl: urlOf(type), resourceNames, versionInfo, responseNonce };
    sotw(stream).send(errorDetail === undefined ? request : { ...request, errorDetail });
  }

  /** It asks for what the resources of this type name. */
  #follow(type: TypeName): void {
    const dependent = type === "cluster" ? "endpoint" : type === "listener" ? "route" : undefined;
    if (dependent === undefined || !this.options.types.includes(dependent)) return;
    const names = this.#namesOf(dependent) ?? [];
    const before = this.#asked.get(dependent);
    if (before === undefined) {
      if (names.length > 0) this.#begin(dependent, names, false);
      return;
    }
    const [added, dropped] = [
      names.filter((one) => !before.includes(one)),
      before.filter((one) => !names.includes(one)),
    ];
    if (added.length + dropped.length === 0) return;
    this.#asked.set(dependent, names);
    for (const name of dropped) this.#of(dependent).delete(name);
    const stream = this.#lines.get(dependent)?.stream;
    if (this.options.variant === "sotw") this.#say(dependent, {});
    else if (stream !== undefined)
      delta(stream).send({
        typeUrl: urlOf(dependent),
        resourceNamesSubscribe: added,
        resourceNamesUnsubscribe: dropped,
      });
  }

  #hold(type: TypeName, any: Any): void {
    const message = anyUnpack(any, registry);
    if (message === undefined) return;
    const resource = createResource(message);
    this.#of(type).set(resource.name, resource);
  }

  #of(type: TypeName): Map<string, Resource> {
    const current = this.#current.get(type);
    if (current === undefined) throw new Error(`there is none of ${type}`);
    return current;
  }

  #typeOf(url: string): TypeName {
    const type = this.options.types.find((one) => urlOf(one) === url);
    if (type === undefined) throw new Error(`it did not ask for ${url}`);
    return type;
  }
}
