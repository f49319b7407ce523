import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Unpack } from "../messages/any.js";
import type { ApiVersion, ResourceName, TypeUrl } from "../names/identifiers.js";
import type { Reference } from "../references/reference.js";

/** A per-type discovery service: its full name and its methods. A method that the service lacks is undefined. */
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

/**
 * How a delta response says that a requested resource does not exist.
 * - `removed`: its name in `removed_resources` (rule 91).
 * - `unresolved`: a `Resource` with the name as its alias and without a body (VHDS, rule 138).
 */
export type Absence = "removed" | "unresolved";

/** One row of the table of resource types. Everything that differs between LDS, RDS, CDS … is in it. */
export interface ResourceType {
  /** The singular that people type: `cluster`, `endpoint`, `listener`, `route` … */
  readonly name: string;
  /** `cds`, `eds`, `lds`, `rds` … */
  readonly abbreviation: string;
  readonly typeUrl: TypeUrl;
  /** Undefined if v2 had no such type. */
  readonly v2TypeUrl: TypeUrl | undefined;
  readonly services: { readonly [V in ApiVersion]: DiscoveryService | undefined };
  /** The last part of `POST /v3/discovery:…`, such as `clusters`; undefined if there is no REST method. */
  readonly restPath: string | undefined;
  /** Undefined for an unknown type: it has no resources, but clients may request it (rule 161). */
  readonly schema: DescMessage | undefined;
  /**
   * Its URL does not name a known message, such as Istio's `istio.io/debug/syncz`. Its resources may be messages of any
   * type, each with its own type URL, and may have no name.
   */
  readonly anyContent?: true | undefined;
  /** The message's own name; undefined if it has none (LbEndpoint). */
  readonly nameOf: (message: Message) => ResourceName | undefined;
  /** The (local) name of the field that `nameOf` reads; undefined if it does something else. */
  readonly nameField?: string | undefined;
  /**
   * v3 type URLs of types whose names are prefixes of this type's names: a virtual host is named `<route
   * configuration>/<host>`.
   */
  readonly namedBelow?: readonly TypeUrl[] | undefined;
  /** The meaning of a first request without names (rules 38, 51, and the part on Envoy for SRDS). */
  readonly emptyFirstRequest: "wildcard" | "nothing";
  /**
   * A SotW response contains the full requested set, and a missing resource was removed (rules 60–67): LDS, CDS, SRDS.
   */
  readonly fullState: boolean;
  /** Types are delivered in ascending order (rules 117–119): RTDS, SDS, CDS, EDS, LEDS, ECDS, LDS, SRDS, RDS, VHDS. */
  readonly deliveryOrder: number;
  readonly absence: Absence;
  /**
   * User agent names of clients that a delta response must not tell that a resource of this type does not exist. They
   * would take it for the answer and wait forever, but without an answer they continue after a while (Envoy on the
   * wire, 8).
   */
  readonly absenceUnreportedTo: readonly string[];
  /**
   * v3 type URLs of types that refer to this one. After a response of such a type, a client sends an identical request
   * for this type again, which must be answered once (rule 123; Envoy on the wire, 6): CDS for EDS, SRDS and LDS for
   * RDS …
   */
  readonly askedAgainAfter: readonly TypeUrl[];
  /**
   * v3 type URLs of the types that end the warming of this one: a load assignment warms a cluster, virtual hosts warm a
   * route configuration. After a resource of this type was sent with new content, the resources of those types that it
   * refers to must be sent again if the client subscribes to them, even if they did not change (rules 121, 122; Envoy
   * on the wire, 7).
   */
  readonly warmedBy: readonly TypeUrl[];
  /** The numbers of the fields by which a resource of this type waits for more than that: a cluster's health checks. */
  readonly warmingFields?: readonly number[] | undefined;
  /**
   * A client can use a new resource of this type only some time after it arrived, and acknowledges it then. Resources
   * that name it must wait for that. Clusters (Envoy on the wire, 1).
   */
  readonly acknowledgedWarm: boolean;
  /**
   * A replaced or removed resource stays in use for a while, and no acknowledgement says how long: listeners drain
   * (Envoy on the wire, 14).
   */
  readonly drains: boolean;
  /**
   * The other resources that this one names, at any depth and inside `Any`s. Each reference appears once, in the order
   * of the message's fields. `unpack` reads the `Any`s; by default those with Envoy's messages.
   */
  readonly references: (message: Message, unpack?: Unpack) => readonly Reference[];
}

/** The types that a server or a client knows. */
export interface ResourceTypes extends Iterable<ResourceType> {
  /** By v2 or v3 type URL; undefined if unknown. */
  byTypeUrl(url: string): { readonly type: ResourceType; readonly api: ApiVersion } | undefined;
  /** By name or abbreviation (any case; singular, or plural as in the REST path), or by type URL. */
  find(nameOrUrl: string): ResourceType | undefined;
  /** All, in delivery order. */
  readonly all: readonly ResourceType[];
}
