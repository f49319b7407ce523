import { type CallWithOptions, checkCall as check, numberOptions, type TableOf, XdskitError } from "@xdskit/api";
import { defaultBackoff } from "./backoff.js";
import type { BootstrapOptions, BootstrapSource } from "./bootstrap/bootstrap-options.js";
import { defaultClientLimits } from "./client-limits.js";
import type { FilesSettings, GrpcServerSettings, NodeSettings, RestServerSettings } from "./client-options.js";
import type { ConfigOptions } from "./config/xds-config.js";
import type { ClientMetricsOptions } from "./metrics/client-metrics-options.js";
import type { StatusOptions } from "./status/status-options.js";
import type { TlsSettings } from "./tls.js";
import type { GetOptions } from "./xds-client.js";

const tls = {
  options: {
    caFile: "string",
    certificateFile: "string",
    keyFile: "string",
    serverName: "string",
  } satisfies TableOf<TlsSettings>,
} as const;

const grpc = {
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

const rest = {
  kind: "string",
  url: "string",
  tls,
  headers: "object",
  refreshDelayMs: "number",
  requestTimeoutMs: "number",
  api: "string",
} satisfies TableOf<RestServerSettings>;

const files = {
  kind: "string",
  files: { items: { type: "string", path: "string", watchedDirectory: "string" } },
} satisfies TableOf<FilesSettings>;

/** What a server is made of, by its kind: an option of another kind is none of its own. */
const servers = { grpc, rest, files } as const;

const node = {
  id: "string",
  cluster: "string",
  locality: { options: { region: "string", zone: "string", subZone: "string" } },
  metadata: "object",
  clientFeatures: "list",
} satisfies TableOf<NodeSettings>;

/** A word that is looked at elsewhere, which says what there is. */
const word = ["string", "boolean", "number"] as const;

const client = {
  // Each by its kind.
  servers: "list",
  fallback: word,
  authorities: "object",
  // A message has other fields than settings.
  node: "object",
  nodeOn: word,
  types: "object",
  registry: "object",
  validate: word,
  features: "list",
  checks: "object",
  acknowledge: "function",
  held: "list",
  absentAfterMs: "number",
  backoff: { options: numberOptions(defaultBackoff) },
  limits: { options: numberOptions(defaultClientLimits) },
  clock: "object",
  random: "function",
  // What is read of a bootstrap may be given as it is.
  kind: "string",
  grpc: "object",
} satisfies TableOf<BootstrapOptions>;

const code = "XDSKIT_CLIENT_OPTION";

const calls = {
  createClient: { example: '{ servers: ["127.0.0.1:18000"], node: { id: "me" } }', table: client },
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
    example: "{ mostBytes: 1_000_000 }",
    table: { registry: "object", mostBytes: "number" } satisfies TableOf<StatusOptions>,
  },
  clientOptionsFromBootstrap: {
    example: '{ path: "bootstrap.json" }',
    table: { path: "string", text: "string", env: "object", use: "string" } satisfies TableOf<BootstrapSource>,
  },
} as const satisfies Record<string, Omit<CallWithOptions, "call" | "code">>;

/** Looks at the options of a call. Throws an XdskitError (XDSKIT_CLIENT_OPTION) that names what is wrong, and what was probably meant. */
export function checkCall(call: keyof typeof calls, options: unknown): void {
  check({ call, code, ...calls[call] }, options);
}

/** The same of the settings of one server, whose kind is known. */
export function checkServer(kind: keyof typeof servers, settings: unknown): void {
  const example = '{ kind: "grpc", address: "127.0.0.1:18000" }';
  check({ call: `a server of kind ${kind}`, code, example, table: servers[kind] }, settings);
}

/** The same of a watcher. */
export function checkWatcher(call: string, watcher: unknown): void {
  // Nothing at all is a watch to be gone through.
  const { onChanged } = Object(watcher) as { readonly onChanged?: unknown };
  if (typeof onChanged === "function") return;
  throw XdskitError.of(
    code,
    `${call} takes a watcher, such as { onChanged: (value) => {} }, or none, to be gone through by for await`,
  );
}
