import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Unpack } from "../any.js";
import type { ApiVersion, ResourceName, TypeUrl } from "../identifiers.js";

/** A per-type discovery service: its full name and its methods. A method that the service does not have is undefined. */
export interface DiscoveryService {
  /** Such as `envoy.service.cluster.v3.ClusterDiscoveryService`. */
  readonly service: string;
  /** State of the world, such as `StreamClusters`. */
  readonly stream: string | undefined;
  /** Incremental, such as `DeltaClusters`. */
  readonly delta: string | undefined;
  /** Unary, such as `FetchClusters`. */
  readonly fetch: string | undefined;
}

/** That one resource names another: a route its cluster, a cluster its load assignment. */
export interface Reference {
  /** The v3 type URL of the resource that is named. */
  readonly type: TypeUrl;
  /**
   * A name, in canonical form; or a collection, which ends with `*` and means every name that begins with what stands before it: the virtual hosts
   * `<route configuration>/*` of VHDS, the glob `xdstp://…/*` of LEDS, all (`*`) of SRDS. `refersTo` decides.
   */
  readonly name: ResourceName;
}

/**
 * How a delta response says that a resource which a client asked for does not exist.
 * - `removed`: its name in `removed_resources` (rule 91).
 * - `unresolved`: a `Resource` with the name as its alias and without a body (VHDS, rule 138).
 */
export type Absence = "removed" | "unresolved";

/** One row of the table of resource types: all that differs between LDS, RDS, CDS … for the rest of the code. */
export interface ResourceType {
  /** The singular that people type: `cluster`, `endpoint`, `listener`, `route` … */
  readonly name: string;
  /** `cds`, `eds`, `lds`, `rds` … */
  readonly abbreviation: string;
  readonly typeUrl: TypeUrl;
  /** Undefined where v2 had no such type. */
  readonly v2TypeUrl: TypeUrl | undefined;
  readonly services: { readonly [V in ApiVersion]: DiscoveryService | undefined };
  /** The last part of `POST /v3/discovery:…`, such as `clusters`; undefined where there is no REST method. */
  readonly restPath: string | undefined;
  /** Undefined for a type that is not known: it has no resources, but may be asked for (rule 161). */
  readonly schema: DescMessage | undefined;
  /**
   * It is asked for by a URL that names no message that is known, such as Istio's `istio.io/debug/syncz`: its resources may be messages of any type, each with
   * a type URL of its own, and need have no name.
   */
  readonly anyContent?: true | undefined;
  /** The name that the message itself carries; undefined where it has none (LbEndpoint). */
  readonly nameOf: (message: Message) => ResourceName | undefined;
  /** The (local) name of the field that `nameOf` reads; undefined where it does something else. */
  readonly nameField?: string | undefined;
  /** v3 type URLs of types below whose names those of this one may stand: virtual hosts are called `<route configuration>/<host>`. */
  readonly namedBelow?: readonly TypeUrl[] | undefined;
  /** What a first request without names means (rules 38, 51, and the part on Envoy for SRDS). */
  readonly emptyFirstRequest: "wildcard" | "nothing";
  /** A SotW response holds the full set of what the client asked for, and absence from it is removal (rules 60–67): LDS, CDS, SRDS. */
  readonly fullState: boolean;
  /** Types are delivered in ascending order (rules 117–119): RTDS, SDS, CDS, EDS, LEDS, ECDS, LDS, SRDS, RDS, VHDS. */
  readonly deliveryOrder: number;
  readonly absence: Absence;
  /**
   * Clients, by the name of their user agent, that a delta response does not tell that a resource of this type does not exist: they would take it for the
   * answer and wait for the resource for ever, where without an answer they go on after a while (Envoy on the wire, 8).
   */
  readonly absenceUntoldTo: readonly string[];
  /**
   * v3 type URLs of types that refer to this one such that a client asks again, with an identical request, after a response of theirs,
   * and must be answered once (rule 123; Envoy on the wire, 6): CDS for EDS, SRDS and LDS for RDS …
   */
  readonly askedAgainAfter: readonly TypeUrl[];
  /**
   * v3 type URLs of the types that end the warming of this one: a cluster is warmed by its load assignment, a route configuration by its virtual hosts.
   * When a resource of this type was sent with new content, then those of the types listed here that it refers to, as far as the client
   * is subscribed to them, must be sent once more after it, also when they did not change (rules 121, 122; Envoy on the wire, 7).
   */
  readonly warmedBy: readonly TypeUrl[];
  /**
   * A client can use a new resource of this type only some time after it came, and acknowledges it then: what names it is to wait for that. Clusters (Envoy on the
   * wire, 1).
   */
  readonly acknowledgedWarm: boolean;
  /** What was replaced or removed goes on to be used for a while, of which no acknowledgement tells: listeners drain (Envoy on the wire, 14). */
  readonly drains: boolean;
  /**
   * Which other resources this one names, at any depth and inside `Any`s. Every reference once, in the order of the message's fields.
   * `unpack` reads the `Any`s; without it those of Envoy's own messages are read.
   */
  readonly references: (message: Message, unpack?: Unpack) => readonly Reference[];
}

/** The types that a server or a client knows. */
export interface ResourceTypes extends Iterable<ResourceType> {
  /** By v2 or v3 type URL; undefined where it is not known. */
  byTypeUrl(url: string): { readonly type: ResourceType; readonly api: ApiVersion } | undefined;
  /** By name or abbreviation (any case; singular, or plural as in the REST path), or by type URL. */
  find(nameOrUrl: string): ResourceType | undefined;
  /** All, in delivery order. */
  readonly all: readonly ResourceType[];
}
