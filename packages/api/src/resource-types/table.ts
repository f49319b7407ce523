import type { Message, Registry } from "@bufbuild/protobuf";
import { createUnpack, type Unpack } from "../messages/any.js";
import { type TypeUrl, typeUrlPrefix } from "../names/identifiers.js";
import { referencesOf } from "../references/references.js";
import { envoyRegistry } from "../registry/registry.js";
import { nameless, textIn } from "./own-names.js";
import type { DiscoveryService, ResourceType } from "./resource-type.js";

/** The content of a row. The rest of a `ResourceType` follows from it. */
interface TypeRow {
  readonly name: string;
  readonly abbreviation: string;
  /** Full names of the messages. */
  readonly v3: string;
  readonly v2?: string;
  /** Full names of the services. A list collection has none; it is requested on ADS. */
  readonly v3Service?: string;
  readonly v2Service?: string;
  /** The ending of the methods' names: `StreamClusters`, `DeltaClusters`, `FetchClusters`. */
  readonly methods?: string;
  /** VHDS and LEDS have only the incremental method. */
  readonly deltaOnly?: true;
  readonly restPath?: string;
  /** The (local) field with the resource's name. */
  readonly nameField?: string;
  /** Names of other rows. */
  readonly namedBelow?: readonly string[];
  /** An empty first request is the wildcard, and a SotW response is the full set. */
  readonly wildcard?: true;
  readonly absence?: ResourceType["absence"];
  readonly absenceUnreportedTo?: readonly string[];
  /** Names of other rows. */
  readonly askedAgainAfter?: readonly string[];
  readonly warmedBy?: readonly string[];
  readonly warmingFields?: readonly number[];
  readonly acknowledgedWarm?: true;
  readonly drains?: true;
}

/**
 * The table of resource types, one row per type, in delivery order: resources that another one names come before it
 * (rules 117–119). To add a type, add a row here, and under `references/` the rules for the resources that it names.
 */
const rows: readonly TypeRow[] = [
  {
    name: "runtime",
    abbreviation: "rtds",
    v3: "envoy.service.runtime.v3.Runtime",
    v2: "envoy.service.discovery.v2.Runtime",
    v3Service: "envoy.service.runtime.v3.RuntimeDiscoveryService",
    v2Service: "envoy.service.discovery.v2.RuntimeDiscoveryService",
    methods: "Runtime",
    restPath: "runtime",
    nameField: "name",
  },
  {
    name: "secret",
    abbreviation: "sds",
    v3: "envoy.extensions.transport_sockets.tls.v3.Secret",
    v2: "envoy.api.v2.auth.Secret",
    v3Service: "envoy.service.secret.v3.SecretDiscoveryService",
    v2Service: "envoy.service.discovery.v2.SecretDiscoveryService",
    methods: "Secrets",
    restPath: "secrets",
    nameField: "name",
  },
  {
    name: "cluster",
    abbreviation: "cds",
    v3: "envoy.config.cluster.v3.Cluster",
    v2: "envoy.api.v2.Cluster",
    v3Service: "envoy.service.cluster.v3.ClusterDiscoveryService",
    v2Service: "envoy.api.v2.ClusterDiscoveryService",
    methods: "Clusters",
    restPath: "clusters",
    nameField: "name",
    wildcard: true,
    warmedBy: ["endpoint"],
    // `health_checks`, `transport_socket` and `transport_socket_matches`: secrets may come from files.
    warmingFields: [8, 24, 43],
    acknowledgedWarm: true,
  },
  {
    name: "endpoint",
    abbreviation: "eds",
    v3: "envoy.config.endpoint.v3.ClusterLoadAssignment",
    v2: "envoy.api.v2.ClusterLoadAssignment",
    v3Service: "envoy.service.endpoint.v3.EndpointDiscoveryService",
    v2Service: "envoy.api.v2.EndpointDiscoveryService",
    methods: "Endpoints",
    restPath: "endpoints",
    nameField: "clusterName",
    askedAgainAfter: ["cluster"],
  },
  {
    name: "locality-endpoint",
    abbreviation: "leds",
    v3: "envoy.config.endpoint.v3.LbEndpoint",
    v3Service: "envoy.service.endpoint.v3.LocalityEndpointDiscoveryService",
    methods: "LocalityEndpoints",
    deltaOnly: true,
  },
  {
    // What gRPC's clients ask for instead, over ADS: the endpoints of a locality as one list (gRFC A95).
    name: "locality-endpoint-collection",
    abbreviation: "locality-endpoint-collection",
    v3: "envoy.config.endpoint.v3.LbEndpointCollection",
  },
  {
    name: "extension-config",
    abbreviation: "ecds",
    v3: "envoy.config.core.v3.TypedExtensionConfig",
    v3Service: "envoy.service.extension.v3.ExtensionConfigDiscoveryService",
    methods: "ExtensionConfigs",
    restPath: "extension_configs",
    nameField: "name",
    // Its listener would wait for it. After 15 s it answers 500 until the resource arrives.
    absenceUnreportedTo: ["envoy"],
  },
  {
    name: "listener",
    abbreviation: "lds",
    v3: "envoy.config.listener.v3.Listener",
    v2: "envoy.api.v2.Listener",
    v3Service: "envoy.service.listener.v3.ListenerDiscoveryService",
    v2Service: "envoy.api.v2.ListenerDiscoveryService",
    methods: "Listeners",
    restPath: "listeners",
    nameField: "name",
    wildcard: true,
    drains: true,
  },
  {
    // Envoy treats it as a wildcard, full-state type, although the documents do not list it as one.
    name: "scoped-route",
    abbreviation: "srds",
    v3: "envoy.config.route.v3.ScopedRouteConfiguration",
    v2: "envoy.api.v2.ScopedRouteConfiguration",
    v3Service: "envoy.service.route.v3.ScopedRoutesDiscoveryService",
    v2Service: "envoy.api.v2.ScopedRoutesDiscoveryService",
    methods: "ScopedRoutes",
    restPath: "scoped-routes",
    nameField: "name",
    wildcard: true,
  },
  {
    name: "route",
    abbreviation: "rds",
    v3: "envoy.config.route.v3.RouteConfiguration",
    v2: "envoy.api.v2.RouteConfiguration",
    v3Service: "envoy.service.route.v3.RouteDiscoveryService",
    v2Service: "envoy.api.v2.RouteDiscoveryService",
    methods: "Routes",
    restPath: "routes",
    nameField: "name",
    // Its listener would wait for them. After 15 s it answers 404 until they arrive.
    absenceUnreportedTo: ["envoy"],
    askedAgainAfter: ["listener", "scoped-route"],
    warmedBy: ["virtual-host"],
  },
  {
    name: "virtual-host",
    abbreviation: "vhds",
    v3: "envoy.config.route.v3.VirtualHost",
    v2: "envoy.api.v2.route.VirtualHost",
    v3Service: "envoy.service.route.v3.VirtualHostDiscoveryService",
    v2Service: "envoy.api.v2.VirtualHostDiscoveryService",
    methods: "VirtualHosts",
    deltaOnly: true,
    nameField: "name",
    namedBelow: ["route"],
    absence: "unresolved",
  },
  // List collections, which contain resources or their locators (xRFC TP1, "List"). Their messages have no name.
  { name: "cluster-collection", abbreviation: "cluster-collection", v3: "envoy.config.cluster.v3.ClusterCollection" },
  {
    name: "listener-collection",
    abbreviation: "listener-collection",
    v3: "envoy.config.listener.v3.ListenerCollection",
  },
];

function typeUrlOf(typeName: string): TypeUrl {
  return `${typeUrlPrefix}${typeName}`;
}

function urlOfRow(name: string): TypeUrl {
  const row = rows.find((row) => row.name === name);
  if (row === undefined) throw new Error(`the table has no type ${name}`);
  return typeUrlOf(row.v3);
}

function serviceOf(row: TypeRow, service: string | undefined): DiscoveryService | undefined {
  if (service === undefined) return undefined;
  return {
    service,
    stream: row.deltaOnly ? undefined : `Stream${row.methods}`,
    delta: `Delta${row.methods}`,
    fetch: row.deltaOnly ? undefined : `Fetch${row.methods}`,
  };
}

function typeOfRow(row: TypeRow, deliveryOrder: number): ResourceType {
  const { name, abbreviation, nameField } = row;
  return {
    name,
    abbreviation,
    typeUrl: typeUrlOf(row.v3),
    v2TypeUrl: row.v2 === undefined ? undefined : typeUrlOf(row.v2),
    services: { v3: serviceOf(row, row.v3Service), v2: serviceOf(row, row.v2Service) },
    restPath: row.restPath,
    // Read on first use: the registry takes time.
    get schema() {
      return envoyRegistry().getMessage(row.v3);
    },
    nameOf: nameField === undefined ? nameless : textIn(nameField),
    nameField,
    namedBelow: row.namedBelow?.map(urlOfRow),
    emptyFirstRequest: row.wildcard ? "wildcard" : "nothing",
    fullState: row.wildcard ?? false,
    deliveryOrder,
    absence: row.absence ?? "removed",
    absenceUnreportedTo: row.absenceUnreportedTo ?? [],
    askedAgainAfter: (row.askedAgainAfter ?? []).map(urlOfRow),
    warmedBy: (row.warmedBy ?? []).map(urlOfRow),
    warmingFields: row.warmingFields,
    acknowledgedWarm: row.acknowledgedWarm ?? false,
    drains: row.drains ?? false,
    references: (message, unpack) => references(row.v3, message, unpack),
  };
}

function references(typeName: string, message: Message, unpack: Unpack | undefined) {
  const registry: Registry = envoyRegistry();
  const schema = registry.getMessage(typeName);
  return schema === undefined ? [] : referencesOf(schema, message, unpack ?? createUnpack(registry));
}

/** All types, in delivery order. */
export const tableOfTypes: readonly ResourceType[] = rows.map(typeOfRow);
