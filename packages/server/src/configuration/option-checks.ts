import { XdskitError } from "@xdskit/api";
import { ttlPolicies } from "@xdskit/protocol";
import type { ServerOptions } from "../contracts/xds-server.js";
import { limitsOf, type OnDemandLimits, type OnDemandOptions } from "../settings/on-demand-options.js";
import type { RestOptions } from "../settings/rest-options.js";
import { rolloutFaults } from "../settings/rollout-settings.js";

/**
 * Checks what types alone cannot: times and counts, and values from programs without types. Throws an XdskitError
 * (XDSKIT_SERVER_OPTION) that names the option.
 */
export function checkOptions({
  eventLoop,
  keepalive,
  onDemand,
  ordering,
  rest,
  ttl,
  resourceErrors,
  onReject,
  rollout,
  tls,
}: ServerOptions): void {
  if (ttl !== undefined && !ttlPolicies.includes(ttl)) throw wrong("ttl", '"auto", "advertised" or "always"', ttl);
  if (resourceErrors !== undefined && resourceErrors !== "advertised" && resourceErrors !== "always")
    throw wrong("resourceErrors", '"advertised" or "always"', resourceErrors);
  if (onReject !== undefined && onReject !== "newest" && onReject !== "lastGood")
    throw wrong("onReject", '"newest" or "lastGood"', onReject);
  checkRollout(rollout);
  for (const field of tls === undefined ? [] : (["certificateFile", "keyFile"] as const)) {
    if (typeof tls?.[field] !== "string" || tls[field] === "")
      throw wrong(`tls.${field}`, "a file's path", tls?.[field]);
  }
  if (rest !== undefined) checkRest(rest);
  for (const [option, value] of Object.entries(ordering || {})) {
    if (value !== undefined && !(value >= 0)) throw wrong(`ordering.${option}`, "milliseconds", value);
  }
  for (const [option, value] of Object.entries(keepalive ?? {})) {
    if (value !== undefined && !(option === "maxAgeMs" ? value > 0 : value >= 0))
      throw wrong(`keepalive.${option}`, "milliseconds", value);
  }
  for (const [option, value] of Object.entries(eventLoop || {})) {
    if (value !== undefined && !(value >= 1)) throw wrong(`eventLoop.${option}`, "milliseconds, at least 1", value);
  }
  if (onDemand !== undefined) checkOnDemand(onDemand);
}

/** The same for the rollout of one change. */
export function checkRollout(rollout: ServerOptions["rollout"]): void {
  for (const { field, message } of rolloutFaults(rollout))
    throw XdskitError.of("XDSKIT_SERVER_OPTION", `rollout.${field}: ${message}`);
}

function checkRest({ holdMs, requestTimeoutMs }: Partial<RestOptions>): void {
  if (holdMs !== undefined && !(holdMs >= 0)) throw wrong("rest.holdMs", "milliseconds, or 0 for not at all", holdMs);
  if (requestTimeoutMs !== undefined && !(requestTimeoutMs > 0))
    throw wrong("rest.requestTimeoutMs", "milliseconds above 0", requestTimeoutMs);
}

/** Of these 0 would mean that nothing is ever supplied, or that a supplier that fails is called without a pause. */
const aboveZero: ReadonlySet<string> = new Set<keyof OnDemandLimits>(["concurrency", "timeoutMs", "retryMs"]);

function checkOnDemand(options: OnDemandOptions): void {
  if (!Array.isArray(options.types) || options.types.length === 0)
    throw wrong("onDemand.types", 'a list of types, such as ["cluster"]', options.types);
  if (typeof options.supply !== "function") throw wrong("onDemand.supply", "a function", options.supply);
  for (const [option, value] of Object.entries(limitsOf(options))) {
    if (aboveZero.has(option) ? value > 0 : value >= 0) continue;
    throw wrong(`onDemand.${option}`, aboveZero.has(option) ? "a number above 0" : "a number from 0 up", value);
  }
}

function wrong(option: string, expected: string, value: unknown): XdskitError {
  const found = typeof value === "string" ? JSON.stringify(value) : Array.isArray(value) ? "[]" : String(value);
  return XdskitError.of("XDSKIT_SERVER_OPTION", `${option} must be ${expected}, not ${found}`);
}
