import { create, type DescMessage, fromJson, type JsonObject, type Message, toBinary } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { envoyRegistry, type Registry } from "../../registry/registry.js";
import { type Case, type CorpusOptions, corpus } from "../corpus/index.js";
import { sitesOf } from "./mutations.js";

/** A resource with one thing changed, valid or not. */
export interface Mutated {
  /** The original resource of the corpus, and the change. */
  readonly name: string;
  /** The full name of its message. */
  readonly type: string;
  readonly body: Uint8Array;
  /** The resource that holds it for an Envoy that does not ask for this type: routes around a virtual host. */
  readonly within?: { readonly type: string; readonly body: Uint8Array };
}

const routesType = "envoy.config.route.v3.RouteConfiguration";
const hostType = "envoy.config.route.v3.VirtualHost";
const assignmentType = "envoy.config.endpoint.v3.ClusterLoadAssignment";
const endpointType = "envoy.config.endpoint.v3.LbEndpoint";
const secretType = "envoy.extensions.transport_sockets.tls.v3.Secret";
const clusterType = "envoy.config.cluster.v3.Cluster";
const listenerType = "envoy.config.listener.v3.Listener";
const extensionType = "envoy.config.core.v3.TypedExtensionConfig";

/** Makes this many, always the same for one seed (`SEED`), with equally many of each type of resource. */
export function mutated(count: number, options: CorpusOptions = {}): readonly Mutated[] {
  const registry = options.registry ?? envoyRegistry();
  const random = createRandom(Number(process.env.SEED ?? 1));
  const bases = basesByType(corpus(options));
  const types = [...bases.keys()];
  const made = new Map<string, Mutated>();
  const oneOf = <Item>(list: readonly Item[]) => list[Math.floor(random() * list.length)] as Item;
  for (let tried = 0; made.size < count && tried < count * 2; tried += 1) {
    const type = types[tried % types.length] as string;
    const base = oneOf(bases.get(type) as readonly Case[]);
    const part = partOf(type, base, registry);
    // A place is chosen first: places with many values are no likelier than others.
    const sites = sitesOf(part.schema, part.message, registry).filter(({ mutations }) => mutations.length > 0);
    if (sites.length === 0) continue;
    const { says, apply } = oneOf(oneOf(sites).mutations);
    apply();
    for (const each of part.whole === undefined ? [part] : [part, part.whole]) rename(each, `mutant-${tried}`);
    const body = toBinary(part.schema, part.message);
    const within = part.around?.();
    const name = `${type} of ${base.name}; ${says}`;
    made.set(name, { name, type, body, ...(within === undefined ? {} : { within }) });
  }
  return [...made.values()];
}

/** Numbers from 0 up to 1, always the same for a seed: mulberry32, whose period is long enough for all mutants. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/**
 * Clusters and listeners need their own names: Envoy has many of them at once. Others have the name by which Envoy asks
 * for them.
 */
function rename({ schema, message }: Part, name: string): void {
  const field = schema.fields.find((each) => each.name === "name" || each.name === "cluster_name");
  const asked = askedName(schema.typeName, message) ?? (ownNames.test(schema.typeName) ? name : undefined);
  if (field !== undefined && asked !== undefined) reflect(schema, message).set(field, asked);
}

function askedName(type: string, message: Message): string | undefined {
  if (type === assignmentType) return "assigned";
  if (type === routesType) return "routes";
  if (type !== secretType) return undefined;
  const { case: kind } = (message as Message & { type: { case?: string } }).type;
  return (
    { tlsCertificate: "certificate", validationContext: "validation", sessionTicketKeys: "tickets" }[kind ?? ""] ??
    "generic"
  );
}

const ownNames = /\.(?:Cluster|Listener|ScopedRouteConfiguration)$/;

/** The valid resources of the corpus, by the type that is made of them. */
function basesByType(cases: readonly Case[]): ReadonlyMap<string, readonly Case[]> {
  const bases = new Map<string, Case[]>();
  const add = (type: string, each: Case): void => {
    const known = bases.get(type);
    if (known === undefined) bases.set(type, [each]);
    else known.push(each);
  };
  for (const each of cases) {
    if (each.breaks !== undefined) continue;
    add(each.type, each);
    const { virtual_hosts: hosts, endpoints } = each.resource as Record<string, JsonObject[] | undefined>;
    if (each.type === routesType && hosts?.[0] !== undefined) add(hostType, each);
    const inner = endpoints?.[0]?.lb_endpoints;
    if (each.type === assignmentType && Array.isArray(inner) && inner.length > 0) add(endpointType, each);
    if (each.type.endsWith(".Listener") && extensionIn(each.resource) !== undefined) add(extensionType, each);
  }
  return bases;
}

interface Part {
  readonly schema: DescMessage;
  readonly message: Message;
  /** The part that contains this one. */
  readonly whole?: Part;
  readonly around?: () => Mutated["within"];
}

function partOf(type: string, { type: of, resource }: Case, registry: Registry): Part {
  const { "@type": _, ...json } = resource;
  const read = (name: string, value: JsonObject): Part => {
    const schema = registry.getMessage(name);
    if (schema === undefined) throw new Error(`there is no ${name}`);
    return { schema, message: fromJson(schema, value, { registry }) };
  };
  if (type === secretType) {
    const part = read(type, json);
    return { ...part, around: () => userOf(part, registry) };
  }
  if (type === of) return read(type, json);
  if (type === extensionType) {
    const part = read(type, extensionIn(resource) as JsonObject);
    return { ...part, around: () => listenerWith(part, registry) };
  }
  const whole = read(of, json);
  const encoded = () => ({ type: of, body: toBinary(whole.schema, whole.message) });
  const fields = whole.message as Message & {
    virtualHosts: Message[];
    endpoints: { lbEndpoints: Message[] }[];
  };
  if (type === hostType) {
    const [first] = fields.virtualHosts;
    fields.virtualHosts = first === undefined ? [] : [first];
    return { schema: registry.getMessage(type)!, message: first as Message, whole, around: encoded };
  }
  const [locality] = fields.endpoints;
  const message = locality?.lbEndpoints[0] as Message;
  return { schema: registry.getMessage(type)!, message, whole, around: encoded };
}

const managerType = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const url = (type: string) => `type.googleapis.com/${type}`;

/** A listener with an HTTP filter. It has the same fields as an extension config. */
function listenerWith({ message }: Part, registry: Registry): NonNullable<Mutated["within"]> {
  const ofType = (name: string) => registry.getMessage(name) as DescMessage;
  const filter = create(ofType(managerType.replace(/HttpConnectionManager$/, "HttpFilter")));
  const { name, typedConfig } = message as Message & { name: string; typedConfig?: unknown };
  Object.assign(filter, { name, configType: { case: "typedConfig", value: typedConfig } });
  const router = { name: "router", typed_config: { "@type": url("envoy.extensions.filters.http.router.v3.Router") } };
  const json = { stat_prefix: "a", route_config: { name: "inline" }, http_filters: [router] };
  const manager = fromJson(ofType(managerType), json, { registry }) as Message & { httpFilters: Message[] };
  manager.httpFilters.unshift(filter);
  const listener = fromJson(
    ofType(listenerType),
    {
      name: `listener-${++users}`,
      address: { socket_address: { address: "127.0.0.1", port_value: 1000 + users } },
      bind_to_port: false,
      filter_chains: [
        { filters: [{ name: "manager", typed_config: { "@type": url(managerType), stat_prefix: "a" } }] },
      ],
    },
    { registry },
  ) as Message & { filterChains: { filters: { configType: { value: { value: Uint8Array } } }[] }[] };
  const [first] = listener.filterChains[0]?.filters ?? [];
  if (first !== undefined) first.configType.value.value = toBinary(ofType(managerType), manager);
  return { type: listenerType, body: toBinary(ofType(listenerType), listener) };
}

/**
 * A cluster that uses a secret, if it is a certificate or authorities: over SDS a refused one blocks the next.
 */
function userOf({ message }: Part, registry: Registry): Mutated["within"] {
  const { case: kind, value } = (message as Message & { type: { case?: string; value?: unknown } }).type;
  if (kind !== "tlsCertificate" && kind !== "validationContext") return undefined;
  const ofType = (name: string) => registry.getMessage(name) as DescMessage;
  const context = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
  const tls = fromJson(ofType(context), { common_tls_context: {} }) as Message & { commonTlsContext: object };
  Object.assign(
    tls.commonTlsContext,
    kind === "tlsCertificate"
      ? { tlsCertificates: [value] }
      : { validationContextType: { case: "validationContext", value } },
  );
  const cluster = fromJson(
    ofType(clusterType),
    {
      name: `cluster-${++users}`,
      type: "STATIC",
      connect_timeout: "1s",
      transport_socket: { name: "tls", typed_config: { "@type": url(context) } },
    },
    { registry },
  ) as Message & { transportSocket: { configType: { value: { value: Uint8Array } } } };
  cluster.transportSocket.configType.value.value = toBinary(ofType(context), tls);
  return { type: clusterType, body: toBinary(ofType(clusterType), cluster) };
}

let users = 0;

/** The first HTTP filter of a listener that is not the router, as an extension config. */
function extensionIn(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { http_filters: filters } = value as { readonly http_filters?: unknown };
  if (Array.isArray(filters)) {
    const found = (filters as JsonObject[]).find(
      ({ name, typed_config }) => typed_config !== undefined && !String(name).includes("router"),
    );
    if (found !== undefined) return { name: "filter", typed_config: found.typed_config as JsonObject };
  }
  for (const each of Object.values(value)) {
    const found = extensionIn(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
