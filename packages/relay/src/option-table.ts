import { type CallWithOptions, checkCall, type TableOf, throwIfAny } from "@xdskit/api";
import type { RelayedGroup, RelayOptions } from "./relay-options.js";

const group = {
  name: "string",
  layer: "string",
  node: "object",
  collections: { items: { type: "object", name: "string" }, needs: ["type", "name"] },
  prefetch: "boolean",
} as const satisfies TableOf<RelayedGroup>;

/** The options of a relay, for programs without types. */
export const relayCall = {
  call: "createRelay",
  code: "XDSKIT_RELAY_OPTION",
  example: '{ server: {}, servers: [{ kind: "grpc", address: "127.0.0.1:18000" }], groups: [], nack: "any", … }',
  needs: ["server", "groups", "servers", "nack", "ackWaitMs", "report", "cacheFailed", "rejected"],
  table: {
    server: "object",
    groups: { items: group, needs: Object.keys(group) },
    servers: { items: "object" },
    client: "object",
    registry: { methods: ["getMessage"] },
    cache: "string",
    nack: "string",
    ackWaitMs: "count",
    holdMs: "count",
    silenceMs: "count",
    lingerMs: "count",
    validate: ["string", "boolean"],
    names: "count",
    report: "function",
    cacheFailed: "function",
    rejected: "function",
  } satisfies TableOf<RelayOptions>,
} as const satisfies CallWithOptions;

/** Throws an XdskitError (XDSKIT_RELAY_OPTION) that names the wrong option, and the one that was probably meant. */
export function checkRelayOptions(options: RelayOptions): void {
  checkCall(relayCall, options);
  const { code } = relayCall;
  const faults = [
    options.servers.length === 0 &&
      'servers must name the origin, such as { kind: "grpc", address: "127.0.0.1:18000" }',
    options.nack !== "all" && options.nack !== "any" && 'nack must be "all" or "any"',
  ].filter((fault) => fault !== false);
  throwIfAny(faults.map((fault) => ({ code, severity: "error", message: `createRelay: ${fault}` })));
}
