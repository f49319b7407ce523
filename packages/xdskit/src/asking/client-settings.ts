import { access, constants } from "node:fs/promises";
import { type ResourceType, XdskitError } from "@xdskit/api";
import {
  type BootstrapOptions,
  type ClientOptions,
  clientOptionsFromBootstrap,
  type NodeSettings,
  type ServerSettings,
} from "@xdskit/client";
import { registryWith } from "../settings/descriptors.js";
import { grpcAddress } from "../settings/options/grpc-address.js";
import { tlsOf } from "../settings/options/tls-options.js";
import { defined } from "../settings/server-settings.js";
import { type AllWanted, readWanted } from "./wanted.js";
import type { WatchOptions } from "./watch-options.js";

/** The servers, the node and the subscriptions. */
export interface ClientSettings extends AllWanted {
  readonly client: ClientOptions;
}

/** Reads the options, and the files that they name. Throws an XdskitError for invalid ones. */
export async function readClientSettings(options: WatchOptions): Promise<ClientSettings> {
  for (const file of [options.tlsCa, options.tlsCert, options.tlsKey, options.tokenFile]) await mustBeReadable(file);
  const all = readWanted(options, await registryWith(options.descriptors ?? []));
  const { types, registry, wanted } = all;
  const asked = wanted.map(({ type }) => type);
  const base: Partial<ClientOptions> =
    options.bootstrap === undefined
      ? { servers: watchedServers(options, asked) }
      : await fromBootstrap(options.bootstrap, wanted[0].type);
  // A person wants to see what exists now, not what an absent server had.
  const fallback = "when-away";
  const { validate = "types" } = options;
  return { ...all, client: { ...base, types, registry, validate, fallback, node: nodeOf(options, base.node) } };
}

/** Credential files are read for each connection; one that is missing at the start is a typing error. */
async function mustBeReadable(file: string | undefined): Promise<void> {
  if (file === undefined) return;
  try {
    await access(file, constants.R_OK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such file" : code;
    throw XdskitError.of("XDSKIT_FILE_UNREADABLE", `it cannot be read: ${reason}`, { file }, { cause });
  }
}

/** Envoy's fields may name different servers: the one of the type counts. */
async function fromBootstrap(path: string, type: ResourceType): Promise<Partial<ClientOptions>> {
  try {
    return withoutKind(await clientOptionsFromBootstrap({ path }));
  } catch (error) {
    const use = type.name === "listener" ? "lds_config" : type.name === "cluster" ? "cds_config" : "ads_config";
    return withoutKind(await clientOptionsFromBootstrap({ path, use }).catch(() => Promise.reject(error)));
  }
}

function withoutKind({ kind: _, grpc: __, ...options }: BootstrapOptions): ClientOptions {
  return options;
}

function nodeOf({ nodeId, nodeCluster, metadata }: WatchOptions, base: ClientOptions["node"] | undefined) {
  if (base !== undefined && "$typeName" in base) return base;
  const node: NodeSettings = {
    id: "xdskit",
    ...base,
    ...defined({ id: nodeId, cluster: nodeCluster }),
    ...(metadata && { metadata: { ...base?.metadata, ...metadata } }),
  };
  return node;
}

const usualWatchServer = "127.0.0.1:18000";

function watchedServers(options: WatchOptions, types: readonly ResourceType[]): readonly ServerSettings[] {
  const { path, watchedDirectory, rest, refreshDelay, api = "v3", tokenFile } = options;
  for (const type of types) mustBeAskable(type, options);
  if (path !== undefined) {
    return [{ kind: "files", files: types.map(({ typeUrl: type }) => ({ type, path, watchedDirectory })) }];
  }
  const tls = tlsOf(options);
  if (rest !== undefined) {
    return rest.map((url) => ({ kind: "rest", url, tls, tokenFile, api, refreshDelayMs: refreshDelay }));
  }
  const { server = [usualWatchServer], variant = "delta" } = options;
  const aggregated = isAggregated(options, types);
  return server.map((address) => ({
    kind: "grpc",
    address: grpcAddress(address),
    tls,
    tokenFile,
    variant,
    aggregated,
    api,
  }));
}

/** Types without their own service are only served by the aggregated one. */
function isAggregated({ ads = false, also = [], api = "v3" }: WatchOptions, types: readonly ResourceType[]): boolean {
  return ads || also.length > 0 || types.some(({ services }) => services[api] === undefined);
}

/** Checks that a type can be asked for in this way. */
function mustBeAskable(type: ResourceType, options: WatchOptions): void {
  const { path, rest, api = "v3", variant = "delta" } = options;
  if (path !== undefined) return;
  if (api === "v2" && type.v2TypeUrl === undefined) throw wrongRequest(`v2 has no ${type.name}`);
  if (rest !== undefined) {
    if (type.restPath === undefined) throw wrongRequest(`there is no REST method for ${type.name}`);
    return;
  }
  const service = type.services[api];
  if (service === undefined || isAggregated(options, [type])) return;
  const method = variant === "delta" ? service.delta : service.stream;
  if (method !== undefined) return;
  const other = variant === "delta" ? "sotw" : "delta";
  throw wrongRequest(`the service of ${type.name} has no method for ${variant}: add --ads, or take --variant ${other}`);
}

function wrongRequest(message: string): XdskitError {
  return XdskitError.of("XDSKIT_CLIENT_OPTION", message);
}
