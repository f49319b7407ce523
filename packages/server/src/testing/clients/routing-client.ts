import { fromBinary } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { ads, type TypeName, urlOf } from "../running-server.js";
import type { RawClient, RawStream } from "./raw-client.js";
import { delta, sotw } from "./xds-client.js";

const schemas = { cluster: ClusterSchema, endpoint: ClusterLoadAssignmentSchema, route: RouteConfigurationSchema };

type RoutedType = keyof typeof schemas;

const routedTypes: readonly RoutedType[] = ["cluster", "endpoint", "route"];

/** What a client holds under a name: the version that it was told, and the names in it. */
interface ClientContent {
  readonly version: string;
  readonly names: readonly string[];
}

/** A client waits this long for a load assignment that nobody sends, in milliseconds. */
const initialFetchMs = 15_000;

/**
 * A client that routes as Envoy does: it asks for all clusters, for the load assignments of those that it has, and for
 * its routes by name. It uses what comes at once, keeps routes and load assignments that are removed as long as
 * something names them, and says what it has when it connects anew. As long as a cluster waits for its load assignment,
 * it neither asks for clusters nor acknowledges them.
 */
export class RoutingClient {
  readonly #variant: "sotw" | "delta";
  readonly #id: string;
  readonly #routes: readonly string[];
  readonly #current = new Map<RoutedType, Map<string, ClientContent>>(routedTypes.map((type) => [type, new Map()]));
  /** What it accepted last, of state of the world. */
  readonly #versions = new Map<RoutedType, string>();
  readonly #nonces = new Map<RoutedType, string>();
  #stream: RawStream | undefined;
  #asked: ReadonlySet<string> = new Set();
  #taken = 0;
  #serves = false;
  /** It has no routes, and asks for them once its clusters are warm. */
  #isNew = true;
  readonly #now: () => number;
  /** When it first asked for load assignments that it lacks, in milliseconds; undefined: it was told of none. */
  readonly #awaited = new Map<string, number | undefined>();
  /** What it says of clusters once they are warm. */
  #later: (() => void)[] = [];

  /** `now`: in milliseconds. */
  constructor(id: string, variant: "sotw" | "delta", routes: readonly string[], now: () => number) {
    this.#id = id;
    this.#variant = variant;
    this.#routes = routes;
    this.#now = now;
  }

  get id(): string {
    return this.#id;
  }

  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  connect(client: RawClient): void {
    this.cut();
    this.#stream = client.open(ads(this.#variant));
    this.#taken = 0;
    this.#nonces.clear();
    this.#later = [];
    this.#asked = new Set(this.#services());
    this.#awaitEndpoints();
    this.#onceWarm(() => this.#begin("cluster"));
    if (this.#asked.size > 0) this.#begin("endpoint");
    this.#isNew = this.#of("route").size === 0;
    if (!this.#isNew) this.#begin("route");
  }

  #begin(type: RoutedType): void {
    const names = type === "cluster" ? [] : type === "route" ? this.#routes : [...this.#asked];
    const claims = Object.fromEntries(Array.from(this.#of(type), ([name, { version }]) => [name, version]));
    if (this.#variant === "sotw") this.#say(type, {});
    else this.#say(type, { resourceNamesSubscribe: names, initialResourceVersions: claims });
  }

  /** Time has passed. */
  tick(): void {
    if (this.#isWarm()) for (const say of this.#later.splice(0)) say();
  }

  #onceWarm(say: () => void): void {
    this.#later.push(say);
    this.tick();
  }

  #isWarm(): boolean {
    const now = this.#now();
    return [...this.#awaited.values()].every((since) => since === undefined || now - since >= initialFetchMs);
  }

  #awaitEndpoints(): void {
    const has = this.#of("endpoint");
    for (const name of this.#awaited.keys()) if (!this.#asked.has(name) || has.has(name)) this.#awaited.delete(name);
    for (const name of this.#asked)
      if (!has.has(name) && !this.#awaited.has(name)) this.#awaited.set(name, this.#now());
  }

  /** What was not taken yet is lost. */
  cut(): void {
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#later = [];
  }

  /** Takes the next response, and acknowledges it; false if there is none. */
  take(): boolean {
    const bytes = this.#stream?.responses[this.#taken];
    if (bytes === undefined) return false;
    this.#taken += 1;
    if (this.#variant === "sotw") this.#takeAll(bytes);
    else this.#takeChanges(bytes);
    return true;
  }

  /**
   * The routes that lead to a cluster which it does not have, or whose endpoints it does not know. None before it has
   * all that it needs for the first time: until then it serves nothing.
   */
  broken(): readonly string[] {
    const broken = this.#broken();
    this.#serves ||= broken.length === 0 && this.#of("route").size === this.#routes.length;
    return this.#serves ? broken : [];
  }

  #broken(): readonly string[] {
    const broken: string[] = [];
    for (const [route, { names }] of this.#of("route")) {
      for (const name of names) {
        const cluster = this.#of("cluster").get(name);
        if (cluster === undefined) broken.push(`${route} leads to ${name}, which is not there`);
        else if (this.#variant === "delta" && cluster.names.some((service) => !this.#of("endpoint").has(service)))
          broken.push(`${route} leads to ${name}, which is not warm`);
      }
    }
    return broken;
  }

  /** The names of what it has, and the clusters that its routes lead to. */
  summary(): string {
    const routes = Array.from(this.#of("route"), ([name, { names }]) => `${name}→${names}`).sort();
    return `${[...this.#of("cluster").keys()].sort()}; ${[...this.#of("endpoint").keys()].sort()}; ${routes}`;
  }

  #of(type: RoutedType): Map<string, ClientContent> {
    const current = this.#current.get(type);
    if (current === undefined) throw new Error(`there is nothing of ${type}`);
    return current;
  }

  #services(): readonly string[] {
    return [...this.#of("cluster").values()].flatMap(({ names }) => names);
  }

  #say(type: RoutedType, more: object): void {
    if (this.#stream === undefined) return;
    const typeUrl = urlOf(type as TypeName);
    const node = { id: this.#id };
    const responseNonce = this.#nonces.get(type) ?? "";
    if (this.#variant === "delta") {
      delta(this.#stream).send({ node, typeUrl, ...more });
      return;
    }
    const resourceNames = type === "cluster" ? [] : type === "route" ? [...this.#routes] : [...this.#asked];
    const versionInfo = this.#versions.get(type) ?? "";
    sotw(this.#stream).send({ node, typeUrl, resourceNames, versionInfo, responseNonce, ...more });
  }

  #takeAll(bytes: Uint8Array): void {
    const { typeUrl, nonce, versionInfo, resources } = fromBinary(DiscoveryResponseSchema, bytes);
    const type = routedTypes.find((each) => urlOf(each) === typeUrl) ?? "cluster";
    if (type === "cluster") this.#of(type).clear();
    for (const { value } of resources) this.#hold(type, value, versionInfo);
    this.#versions.set(type, versionInfo);
    this.#nonces.set(type, nonce);
    this.#answer(type, { versionInfo, responseNonce: nonce });
  }

  #takeChanges(bytes: Uint8Array): void {
    const { typeUrl, nonce, resources, removedResources } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
    const type = routedTypes.find((each) => urlOf(each) === typeUrl) ?? "cluster";
    for (const { resource, version } of resources) this.#hold(type, resource?.value ?? new Uint8Array(), version);
    // As Envoy, it goes on with a route and a load assignment.
    if (type === "cluster") for (const name of removedResources) this.#of(type).delete(name);
    if (type === "endpoint")
      for (const name of removedResources) if (this.#awaited.has(name)) this.#awaited.set(name, undefined);
    this.#answer(type, { responseNonce: nonce });
  }

  #answer(type: RoutedType, answer: object): void {
    if (type === "cluster") {
      this.#askForEndpoints();
      this.#onceWarm(() => {
        this.#say(type, answer);
        if (this.#isNew) this.#begin("route");
        this.#isNew = false;
      });
      return;
    }
    this.#say(type, answer);
    if (type === "endpoint") this.#awaitEndpoints();
    this.tick();
  }

  #hold(type: RoutedType, value: Uint8Array, version: string): void {
    const resource = createResource(fromBinary(schemas[type] as typeof ClusterSchema, value));
    // It may come after the client has dropped its cluster.
    if (type === "endpoint" && !this.#asked.has(resource.name)) return;
    this.#of(type).set(resource.name, { version, names: resource.references.map(({ name }) => name) });
  }

  /** It asks for the load assignments of its clusters, and forgets those of no cluster. */
  #askForEndpoints(): void {
    const before = this.#asked;
    this.#asked = new Set(this.#services());
    this.#awaitEndpoints();
    for (const name of this.#of("endpoint").keys()) if (!this.#asked.has(name)) this.#of("endpoint").delete(name);
    const subscribe = [...this.#asked].filter((name) => !before.has(name));
    const unsubscribe = [...before].filter((name) => !this.#asked.has(name));
    if (subscribe.length + unsubscribe.length === 0) return;
    if (this.#variant === "sotw") this.#say("endpoint", {});
    else this.#say("endpoint", { resourceNamesSubscribe: subscribe, resourceNamesUnsubscribe: unsubscribe });
  }
}
