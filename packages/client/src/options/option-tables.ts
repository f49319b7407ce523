import {
  type CallWithOptions,
  type Clock,
  checkCall,
  defaultBackoff,
  numberOptions,
  type TableOf,
  XdskitError,
} from "@xdskit/api";
import type { GetOptions } from "../contract/xds-client.js";
import type { ConfigOptions } from "../contract/xds-config.js";
import type { BootstrapOptions, BootstrapSource } from "./bootstrap-options.js";
import { defaultClientLimits } from "./client-limits.js";
import type { ClientMetricsOptions } from "./client-metrics-options.js";
import type { FilesSettings, GrpcServerSettings, NodeSettings, RestServerSettings } from "./client-options.js";
import type { StatusOptions } from "./status-options.js";
import type { TlsSettings } from "./tls-settings.js";

const tls = {
  options: {
    caFile: "string",
    certificateFile: "string",
    keyFile: "string",
    serverName: "string",
  } satisfies TableOf<TlsSettings>,
} as const;

const grpcServer = {
  kind: "string",
  address: "string",
  tls,
  headers: "object",
  tokenFile: "string",
  variant: "string",
  aggregated: "boolean",
  ignoreResourceDeletion: "boolean",
  failOnDataErrors: "boolean",
  api: "string",
} satisfies TableOf<GrpcServerSettings>;

const restServer = {
  kind: "string",
  url: "string",
  tls,
  headers: "object",
  tokenFile: "string",
  refreshDelayMs: "number",
  requestTimeoutMs: "number",
  api: "string",
} satisfies TableOf<RestServerSettings>;

const filesServer = {
  kind: "string",
  files: { items: { type: "string", path: "string", watchedDirectory: "string" } },
} satisfies TableOf<FilesSettings>;

/** The settings of a server, by kind; an option of another kind is unknown. */
const servers = { grpc: grpcServer, rest: restServer, files: filesServer } as const;

const node = {
  id: "string",
  cluster: "string",
  locality: { options: { region: "string", zone: "string", subZone: "string" } },
  metadata: "object",
  clientFeatures: { items: "string" },
} satisfies TableOf<NodeSettings>;

/** A word that is checked elsewhere, by code that lists the valid words. */
const word = ["string", "boolean", "number"] as const;

/** The options of `createClient`. */
export const clientOptions = {
  // Checked by the kind of each.
  servers: "list",
  fallback: word,
  authorities: "object",
  // A message has other fields than settings.
  node: "object",
  nodeOn: word,
  types: "object",
  registry: "object",
  validate: word,
  features: { items: "string" },
  checks: "object",
  acknowledge: "function",
  retained: "list",
  absentAfterMs: "number",
  backoff: { options: numberOptions(defaultBackoff) },
  limits: { options: numberOptions(defaultClientLimits) },
  clock: { methods: ["now", "after"] satisfies (keyof Clock)[] },
  random: "function",
  // The result of reading a bootstrap may be passed as it is.
  kind: "string",
  grpc: "object",
} satisfies TableOf<BootstrapOptions>;

const code = "XDSKIT_CLIENT_OPTION";

const calls = {
  createClient: { example: '{ servers: ["127.0.0.1:18000"], node: { id: "me" } }', table: clientOptions },
  "createClient: node": { example: '{ id: "me", cluster: "edge" }', table: node },
  "client.get": {
    example: "{ timeout: 5_000 }",
    table: { signal: "object", timeout: "number" } satisfies TableOf<GetOptions>,
  },
  "client.watchConfig": {
    example: '{ authority: "shop.example" }',
    table: { authority: "string" } satisfies TableOf<ConfigOptions>,
  },
  createClientMetrics: {
    example: '{ target: "shop" }',
    table: { target: "string" } satisfies TableOf<ClientMetricsOptions>,
  },
  createStatusService: {
    example: "{ maxBytes: 1_000_000 }",
    table: { registry: "object", maxBytes: "number" } satisfies TableOf<StatusOptions>,
  },
  clientOptionsFromBootstrap: {
    example: '{ path: "bootstrap.json" }',
    table: { path: "string", text: "string", env: "object", use: "string" } satisfies TableOf<BootstrapSource>,
  },
} as const satisfies Record<string, Omit<CallWithOptions, "call" | "code">>;

/**
 * Checks the options of a call. Throws an XdskitError (XDSKIT_CLIENT_OPTION) that names the wrong option, and the one
 * that was probably meant.
 */
export function checkClientCall(call: keyof typeof calls, options: unknown): void {
  checkCall({ call, code, ...calls[call] }, options);
}

/** Checks the settings of one server, whose kind is known. */
export function checkServer(kind: keyof typeof servers, settings: unknown): void {
  const example = '{ kind: "grpc", address: "127.0.0.1:18000" }';
  checkCall({ call: `a server of kind ${kind}`, code, example, table: servers[kind] }, settings);
}

/** Checks the clients that are shown or counted. */
export function checkClients(call: string, clients: readonly unknown[]): void {
  if (clients.every((client) => typeof (Object(client) as { readonly watch?: unknown }).watch === "function")) return;
  throw XdskitError.of(code, `${call} takes what createClient returns`);
}

/** Checks a watcher. */
export function checkWatcher(call: string, watcher: unknown): void {
  // Without a watcher, the watch is an iterator.
  const { onChanged } = Object(watcher) as { readonly onChanged?: unknown };
  if (typeof onChanged === "function") return;
  throw XdskitError.of(
    code,
    `${call} takes a watcher, such as { onChanged: (value) => {} }, or none, for a loop with for await`,
  );
}
