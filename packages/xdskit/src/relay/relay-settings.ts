import { resolve } from "node:path";
import { noSuchType, type ResourceTypes, XdskitError } from "@xdskit/api";
import {
  type ClientOptions,
  clientOptionsFromBootstrap,
  type NodeSettings,
  type ServerSettings,
  type TlsSettings,
  type ValidateLevel,
} from "@xdskit/client";
import type { NackPolicy, RelayedGroup, RelayOptions, ServerSettingsInFull, WatchedCollection } from "@xdskit/relay";
import { everyNode } from "@xdskit/server";
import { type LoadedSettings, pathFromSettings } from "../settings/load-settings.js";
import type { AskingOptions } from "../settings/options/asking-options.js";
import { grpcAddress } from "../settings/options/grpc-address.js";
import { tlsOf } from "../settings/options/tls-options.js";
import { groupsWithFolders, upstreamLayer } from "../settings/relay-groups.js";
import type { RelaySettings, Settings } from "../settings/schema.js";
import { defined, serverOptions, serverTls } from "../settings/server-settings.js";
import { usualUpstream } from "../settings/usual-settings.js";

/** The origin on the command line; the settings give the rest. */
export interface UpstreamArguments extends AskingOptions {
  readonly servers?: readonly string[] | undefined;
  /** `TYPE=FILE`. */
  readonly paths?: readonly string[] | undefined;
  readonly perType?: boolean | undefined;
  /** Types, `TYPE=NAME` for a collection, or `none`. */
  readonly wildcard?: readonly string[] | undefined;
  readonly prefetch?: boolean | undefined;
  readonly cache?: string | undefined;
  readonly nack?: NackPolicy | undefined;
  readonly ackWait?: number | undefined;
  readonly hold?: number | undefined;
}

/** The origin and the groups of a relay. */
export interface UpstreamSettings extends Pick<RelayOptions, "servers" | "groups" | "server" | "nack" | "ackWaitMs"> {
  /** Further options of the clients: authorities. */
  readonly client: Partial<ClientOptions>;
  readonly cache: string | undefined;
  /** How many names clients may ask for. */
  readonly names: number | undefined;
  readonly holdMs: number;
  readonly validate: ValidateLevel;
}

const usualWildcard = ["cluster", "listener"];
/** The default id of a relay. */
const usualNode = { id: "xdskit-relay" };

/** The settings of a relay as those of a server with folders. */
export function servedSettings({ upstream: _, groups, ...settings }: RelaySettings): Settings {
  return { ...settings, groups: groupsWithFolders(groups?.map(({ upstream: _, ...group }) => group)) };
}

/** Combines command line, settings and defaults. Rejects with an XdskitError for invalid ones. */
export async function upstreamSettings(
  asked: UpstreamArguments,
  loaded: LoadedSettings<RelaySettings>,
  types: ResourceTypes,
): Promise<UpstreamSettings> {
  const { upstream = {}, groups } = loaded.settings;
  const path = (file: string | undefined) => file && pathFromSettings(loaded, file);
  const bootstrap = asked.bootstrap === undefined ? undefined : await clientOptionsFromBootstrap(asked.bootstrap);
  const servers = originServers(asked, loaded, bootstrap?.servers);
  const node = relayNode(asked, upstream.node, bootstrap?.node);
  const wildcard = asked.wildcard ?? upstream.wildcard ?? usualWildcard;
  const prefetch = asked.prefetch ?? upstream.prefetch ?? usualUpstream.prefetch;
  const only: RelayedGroup = {
    name: everyNode,
    layer: upstreamLayer,
    node,
    prefetch,
    collections: collectionsOf(wildcard, types),
  };
  const relayed = groups?.map(({ name, upstream: own = {} }) => ({
    name,
    layer: name,
    node: own.node === undefined ? node : withIdentity(node, own.node),
    prefetch: own.prefetch ?? prefetch,
    collections: collectionsOf(own.wildcard ?? wildcard, types),
  }));
  return {
    servers,
    client: {
      ...(bootstrap?.authorities === undefined ? {} : { authorities: bootstrap.authorities }),
      ...(upstream.retained_bytes === undefined ? {} : { limits: { retainedBytes: upstream.retained_bytes } }),
    },
    names: upstream.names,
    groups: relayed ?? [only],
    server: {
      ...serverOptions(servedSettings(loaded.settings)),
      tls: serverTls(loaded, "tls"),
    },
    cache: asked.cache === undefined ? path(upstream.cache) : resolve(asked.cache),
    nack: asked.nack ?? upstream.nack ?? usualUpstream.nack,
    ackWaitMs: asked.ackWait ?? upstream.ack_wait ?? usualUpstream.ackWaitMs,
    holdMs: asked.hold ?? upstream.hold ?? usualUpstream.holdMs,
    // The clients judge the origin's resources themselves.
    validate: asked.validate ?? upstream.validate ?? usualUpstream.validate,
  };
}

function originServers(
  asked: UpstreamArguments,
  loaded: LoadedSettings<RelaySettings>,
  fromBootstrap: readonly ServerSettings[] | undefined,
): readonly ServerSettingsInFull[] {
  const { upstream = {} } = loaded.settings;
  if (asked.paths !== undefined) return [{ kind: "files", files: asked.paths.map(fileOf) }];
  if (fromBootstrap !== undefined) {
    return fromBootstrap.map((server) => (typeof server === "string" ? inFull(server, {}, {}) : server));
  }
  const servers = asked.servers ?? upstream.servers;
  if (servers === undefined)
    throw wrongOrigin("no origin is named: --server HOST:PORT, --bootstrap FILE, or upstream.servers in the settings");
  const perType = asked.perType ?? upstream.per_type ?? usualUpstream.perType;
  const tokenFile = asked.tokenFile ?? (upstream.token_file && pathFromSettings(loaded, upstream.token_file));
  const both = { tokenFile, api: asked.api ?? upstream.api ?? usualUpstream.api, tls: upstreamTls(asked, loaded) };
  const grpc = { ...both, variant: asked.variant ?? upstream.variant ?? usualUpstream.variant, aggregated: !perType };
  const rest = {
    ...both,
    refreshDelayMs: asked.refreshDelay ?? upstream.refresh_delay ?? usualUpstream.refreshDelayMs,
  };
  return servers.map((server) => inFull(server, grpc, rest));
}

function inFull(
  server: string,
  grpc: Partial<ServerSettingsInFull>,
  rest: Partial<ServerSettingsInFull>,
): ServerSettingsInFull {
  return isPolled(server)
    ? ({ ...rest, kind: "rest", url: server } as ServerSettingsInFull)
    : ({ ...grpc, kind: "grpc", address: grpcAddress(server) } as ServerSettingsInFull);
}

/** Whether a server is polled. */
const isPolled = (server: string) => /^https?:\/\//i.test(server);

function fileOf(text: string): { readonly type: string; readonly path: string } {
  const [, type, path] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (type === undefined || path === undefined) throw wrongOrigin(`--path ${text}: expected TYPE=FILE`);
  return { type, path };
}

/** The settings give what the command line leaves out. */
function upstreamTls(asked: UpstreamArguments, loaded: LoadedSettings<RelaySettings>): TlsSettings | undefined {
  const { tls } = loaded.settings.upstream ?? {};
  const file = (own: string | undefined, set: string | undefined) => own ?? (set && pathFromSettings(loaded, set));
  return tlsOf({
    tls: asked.tls === true || tls !== undefined,
    tlsCa: file(asked.tlsCa, tls?.ca),
    tlsCert: file(asked.tlsCert, tls?.cert),
    tlsKey: file(asked.tlsKey, tls?.key),
    tlsServerName: asked.tlsServerName ?? tls?.server_name,
  });
}

type Identity = NonNullable<NonNullable<RelaySettings["upstream"]>["node"]>;

function relayNode(
  { nodeId, nodeCluster, metadata }: UpstreamArguments,
  set: Identity = {},
  base: ClientOptions["node"] | undefined,
): ClientOptions["node"] {
  const own: Identity = {
    ...set,
    ...defined({ id: nodeId, cluster: nodeCluster }),
    ...(metadata && { metadata: { ...set.metadata, ...metadata } as Identity["metadata"] }),
  };
  return withIdentity(base ?? usualNode, own);
}

/** A missing value stays as it is; metadata is merged key by key. */
function withIdentity(
  node: ClientOptions["node"],
  { id, cluster, locality, metadata }: Identity,
): ClientOptions["node"] {
  const { region, zone, sub_zone: subZone } = locality ?? {};
  const known = node as NodeSettings;
  return {
    ...known,
    ...defined({ id, cluster }),
    ...(locality && { locality: { ...known.locality, ...defined({ region, zone, subZone }) } }),
    ...(metadata && { metadata: { ...known.metadata, ...metadata } }),
  };
}

function collectionsOf(words: readonly string[], types: ResourceTypes): readonly WatchedCollection[] {
  if (words.length === 1 && words[0] === "none") return [];
  return words.map((word) => {
    const [, typeName = word, name = "*"] = /^([^=]+)=(.+)$/.exec(word) ?? [];
    const type = types.find(typeName);
    if (type !== undefined) return { type, name };
    throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", noSuchType(typeName, types));
  });
}

function wrongOrigin(message: string): XdskitError {
  return XdskitError.of("XDSKIT_CLIENT_OPTION", message);
}
