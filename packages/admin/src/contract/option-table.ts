import { type CallWithOptions, checkCall, type TableOf } from "@xdskit/api";
import type { AdminApiOptions } from "./admin-options.js";

const methods = <const Names extends readonly string[]>(...names: Names) => ({ methods: names });

const server = methods("nodes", "on", "stats", "snapshotOf", "snapshotsOf");

/** The options of the API, for programs without types. */
export const adminCall = {
  call: "createAdminApi",
  code: "XDSKIT_ADMIN_OPTION",
  example: '{ server, registry: envoyRegistry(), layers: [], version: "1.0.0" }',
  needs: ["server", "registry", "layers", "version"],
  table: {
    server,
    registry: methods("getMessage"),
    layers: { items: "object" },
    onRevision: "function",
    peers: "function",
    replica: "string",
    whereIs: "function",
    whereField: "function",
    sources: "function",
    troubles: "function",
    activity: methods("samples"),
    versions: methods("revisionOf"),
    audit: methods("newest"),
    callerOf: "function",
    version: "string",
  } satisfies TableOf<AdminApiOptions>,
} as const satisfies CallWithOptions;

/** Throws an XdskitError (XDSKIT_ADMIN_OPTION) that names the wrong option, and the one that was probably meant. */
export function checkAdminOptions(options: unknown): void {
  checkCall(adminCall, options);
}

/** The same for the server that a function is given beside its options. */
export function checkServer(call: string, given: unknown): void {
  const { code } = adminCall;
  checkCall({ call, code, example: "createServer()", needs: ["server"], table: { server } }, { server: given });
}
