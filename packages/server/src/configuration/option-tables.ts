import {
  type CallWithOptions,
  type Clock,
  checkCall,
  checkIterable,
  numberOptions,
  type TableOf,
  XdskitError,
} from "@xdskit/api";
import { defaultKeepalive } from "@xdskit/grpc-server";
import type { Node } from "@xdskit/protocol";
import type { ChangeOptions, ConfigUpdate, ResourceSelector } from "../contracts/config.js";
import type { LiveOptions } from "../contracts/kernel-options.js";
import type { ConfigArrivalDoneOptions, ConfigArrivalOptions } from "../contracts/nodes/arrival.js";
import type { LoadReportFilter } from "../contracts/nodes/load-report.js";
import type { EachNodeFilter, NodeConfigFilter, NodesFilter } from "../contracts/nodes/node-status.js";
import type { ServerOptions } from "../contracts/server-options.js";
import type { Addresses } from "../contracts/xds-server.js";
import type { IdentityRule } from "../identity/identity-rule.js";
import type { GroupSettings } from "../settings/group-settings.js";
import { defaultServerLimits } from "../settings/limits.js";
import type { LoadReportSettings } from "../settings/load-report-settings.js";
import { defaultOnDemandLimits } from "../settings/on-demand-options.js";
import type { OrderingOptions } from "../settings/ordering-options.js";
import { defaultRestOptions } from "../settings/rest-options.js";
import type { RolloutSettings } from "../settings/rollout-settings.js";
import type { ServerTls } from "../tls/server-tls.js";

const rollout = {
  options: {
    steps: { items: { percent: "number", count: "number", match: "object" } },
    soakMs: "number",
    haltAfter: "number",
    timeoutMs: "number",
  } satisfies TableOf<RolloutSettings>,
  or: ["off"],
} as const;
const loadReports = {
  options: {
    intervalMs: "number",
    clusters: ["list", "string"],
    endpoints: "boolean",
  } satisfies TableOf<LoadReportSettings>,
} as const;
/** `checkOptions` has better messages for the options that it checks itself. */
const word = ["string", "boolean", "number"] as const;

const strings = { items: "string" } as const;

const group = {
  name: "string",
  match: "object",
  layers: "list",
  loadReports,
  ttl: word,
  resourceErrors: word,
  onReject: word,
  rollout,
} satisfies TableOf<GroupSettings>;

const identity = {
  when: "object",
  node: "object",
  groups: strings,
  secrets: "boolean",
  deny: "boolean",
  maxAgeMs: "number",
} satisfies TableOf<IdentityRule>;

/** The options of `createServer`. */
export const serverOptions = {
  identities: { items: identity, needs: ["when"] },
  groups: { items: group, or: ["function"] },
  ttl: word,
  authorities: strings,
  resourceErrors: word,
  localityTypes: strings,
  references: word,
  referencesExcept: strings,
  addresses: word,
  onReject: word,
  rollout,
  limits: { options: numberOptions(defaultServerLimits, "count") },
  defaultNode: {
    options: {
      id: "string",
      cluster: "string",
      locality: { options: { region: "string", zone: "string", subZone: "string" } },
      metadata: "object",
      userAgentName: "string",
      userAgentVersion: "string",
      clientFeatures: strings,
    } satisfies TableOf<Node>,
  },
  loadReports: { ...loadReports, or: ["false"] },
  clientStatus: "boolean",
  nodeRevisions: "function",
  statusPeers: "function",
  readsClientStatus: "function",
  tokenName: "function",
  reviewToken: "function",
  reflection: "boolean",
  rest: { options: numberOptions(defaultRestOptions) },
  ordering: {
    options: {
      acknowledgementMs: "number",
      lingerMs: "number",
      drainMs: "number",
      namedMs: "number",
    } satisfies TableOf<OrderingOptions>,
    or: ["false"],
  },
  keepalive: { options: numberOptions(defaultKeepalive) },
  eventLoop: "boolean",
  types: "object",
  registry: "object",
  validate: "boolean",
  clock: { methods: ["now", "after"] satisfies (keyof Clock)[] },
  tls: {
    options: {
      certificateFile: "string",
      keyFile: "string",
      clientCaFile: "string",
      crlFile: "string",
      clientCertificates: "string",
      source: "object",
    } satisfies TableOf<ServerTls>,
  },
  parts: { items: "function" },
  onDemand: { options: { types: strings, supply: "function", ...numberOptions(defaultOnDemandLimits) } },
} satisfies TableOf<ServerOptions>;

const code = "XDSKIT_SERVER_OPTION";
const change = { rollout } satisfies TableOf<ChangeOptions>;
const selector = { type: "string", name: "string" } satisfies TableOf<ResourceSelector>;

/** Each call with options: its name, the allowed forms, and the allowed options. */
const calls = {
  createServer: { example: '{ groups: [{ name: "edge", match: {}, layers: ["default"] }] }', table: serverOptions },
  "server.reconfigure": {
    example: '{ references: "warn" }',
    table: {
      identities: serverOptions.identities,
      groups: serverOptions.groups,
      references: word,
      referencesExcept: strings,
      limits: serverOptions.limits,
      ordering: serverOptions.ordering,
      rollout,
      onReject: word,
    } satisfies TableOf<LiveOptions>,
  },
  "server.listen": {
    example: '{ grpc: "127.0.0.1:18000" }',
    table: { grpc: "string", rest: "string" } satisfies TableOf<Addresses>,
  },
  "server.close": { example: "{ timeoutMs: 4_000 }", table: { timeoutMs: "number" } },
  "server.nodes": {
    example: '{ group: "edge" }',
    table: { group: "string", state: "string", after: "string", most: "number" } satisfies TableOf<NodesFilter>,
  },
  "server.eachNode": {
    example: '{ group: "edge" }',
    table: { group: "string", after: "string" } satisfies TableOf<EachNodeFilter>,
  },
  "server.nodeConfig": {
    example: '{ type: "cluster" }',
    table: { type: "string", most: "number" } satisfies TableOf<NodeConfigFilter>,
  },
  "server.loadReports": {
    example: '{ cluster: "web" }',
    table: { node: "string", cluster: "string" } satisfies TableOf<LoadReportFilter>,
  },
  "config.set": { example: "[cluster]", table: {} },
  "config.update": {
    example: '{ upsert: [cluster], remove: [{ type: "cluster", name: "old" }] }',
    table: { upsert: ["object", "list"], remove: ["object", "list"] } satisfies TableOf<ConfigUpdate>,
  },
  "config.remove": { example: '{ type: "cluster", name: "old" }', table: selector },
  "the options of a change": { example: '{ rollout: "off" }', table: change },
  "arrival.status": {
    example: '{ nodes: { cluster: "edge" } }',
    table: { nodes: ["list", "object", "function"] } satisfies TableOf<ConfigArrivalOptions>,
  },
  "arrival.nodes": {
    example: '{ nodes: { cluster: "edge" } }',
    table: { nodes: ["list", "object", "function"] } satisfies TableOf<ConfigArrivalOptions>,
  },
  "arrival.eachNode": {
    example: '{ nodes: { cluster: "edge" } }',
    table: { nodes: ["list", "object", "function"] } satisfies TableOf<ConfigArrivalOptions>,
  },
  "arrival.done": {
    example: "{ timeout: 5_000 }",
    table: { nodes: ["list", "object", "function"], timeout: "number" } satisfies TableOf<ConfigArrivalDoneOptions>,
  },
} as const satisfies Record<string, Omit<CallWithOptions, "call" | "code">>;

/**
 * Checks the options of a call. Throws an XdskitError (XDSKIT_SERVER_OPTION) that names the mistake, and the option
 * that was probably meant.
 */
export function checkServerCall(call: keyof typeof calls, options: unknown): void {
  checkCall({ call, code, ...calls[call] }, options);
}

/** The same for addresses: a server that listens nowhere would hide a mistake. */
export function checkAddresses(addresses: Addresses): void {
  const call = "server.listen";
  checkServerCall(call, addresses);
  if (addresses.grpc !== undefined || addresses.rest !== undefined) return;
  throw XdskitError.of(code, `${call}: give an address of grpc or rest, such as ${calls[call].example}`);
}

/** The same for something iterable. */
export function checkList(call: "config.set" | "config.update", list: unknown): void {
  checkIterable({ call, code, ...calls[call] }, list, call === "config.set" ? "a list of resources" : "lists");
}

/** The same for a source. */
export function checkSource(source: unknown): void {
  const { start, close } = Object(source) as { readonly start?: unknown; readonly close?: unknown };
  if (typeof start === "function" && typeof close === "function") return;
  const example = 'createFolderSource({ directory: "./config" })';
  throw XdskitError.of(code, `server.addSource takes a source, such as ${example}`);
}

/** The same for a listener. */
export function checkListener(listener: unknown): void {
  if (typeof listener === "function") return;
  throw XdskitError.of(code, "server.on takes a function, such as (event) => console.log(event)");
}
