import { type CallWithOptions, checkCall, type Finding, type TableOf, throwIfAny } from "@xdskit/api";
import { Access, type AccessSettings, type Role } from "../access/access.js";
import { checkServer } from "../contract/option-table.js";
import { logFormats, logLevels } from "../log/log-options.js";
import { faultsOfAccess } from "./access-faults.js";
import type { AdminLogOptions, AdminOptions } from "./admin-listener-options.js";

/** The options of an admin listener, for programs without types. */
export const adminListenerCall = {
  call: "createAdmin",
  code: "XDSKIT_ADMIN_OPTION",
  example: '{ name: "prod-eu" }',
  table: {
    name: "string",
    version: "string",
    registry: { methods: ["getMessage"] },
    layers: { items: "object" },
    access: {
      options: {
        tokens: "object",
        roles: {
          items: { when: "object", may: { items: "string" }, writes_per_second: "number" } satisfies TableOf<Role>,
          needs: ["when", "may"],
        },
        trusted_proxies: { options: { from: { items: "string" }, host: "string" }, needs: ["from"] },
      } satisfies TableOf<AccessSettings>,
    },
    insecure: "boolean",
    tls: "object",
    onCertificates: "object",
    onRefused: "function",
    log: {
      options: { level: "string", format: "string", write: "function" } satisfies TableOf<AdminLogOptions>,
    },
    audit: { methods: ["add", "newest"] },
    readiness: "function",
    ports: "function",
    sources: "function",
    troubles: "function",
    store: "object",
    rollouts: { methods: ["counts"] },
    others: { methods: ["peers", "isAlone"] },
    onRevision: "function",
    whereIs: "function",
    metrics: "function",
    joinMetrics: "function",
  } satisfies TableOf<AdminOptions>,
} as const satisfies CallWithOptions;

/** Throws an XdskitError (XDSKIT_ADMIN_OPTION) that names the wrong argument or option. */
export function checkAdminListener(server: unknown, options: unknown): void {
  const { call, table } = adminListenerCall;
  checkServer(call, server);
  const access = (options as AdminOptions | undefined)?.access;
  const isMade = access instanceof Access;
  checkCall(isMade ? { ...adminListenerCall, table: { ...table, access: "object" } } : adminListenerCall, options);
  throwIfAny([...faultsOfLog((options as AdminOptions).log), ...(isMade ? [] : wrongAccess(access))]);
}

function faultsOfLog({ level = "info", format = "json" }: AdminLogOptions = {}): readonly Finding[] {
  const wrong = (option: string, values: readonly string[]) =>
    fault(`log.${option}`, `it must be ${values.join(", ")}`);
  return [
    ...(logLevels.includes(level) ? [] : [wrong("level", logLevels)]),
    ...(logFormats.includes(format) ? [] : [wrong("format", logFormats)]),
  ];
}

function fault(place: string, message: string): Finding {
  const { call, code } = adminListenerCall;
  return { code, severity: "error", message: `${call}: ${place}: ${message}` };
}

function wrongAccess(access: AccessSettings = {}): readonly Finding[] {
  return faultsOfAccess(access).map(([place, message]) => fault(`access.${place}`, message));
}
