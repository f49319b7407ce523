import { XdskitError } from "@xdskit/api";
import { ttlPolicies } from "@xdskit/protocol";
import type { ServerOptions } from "../contracts/server-options.js";
import { identityFaults } from "../identity/identity-rule.js";
import { limitsOf, type OnDemandOptions } from "../settings/on-demand-options.js";
import { rolloutFaults } from "../settings/rollout-settings.js";

/** The allowed words of each option that takes a word. */
const words = {
  ttl: ttlPolicies,
  resourceErrors: ["advertised", "always"],
  onReject: ["newest", "lastGood"],
} as const satisfies Partial<Record<keyof ServerOptions, readonly string[]>>;

/** Finds options of a server or a group with an unknown word. `known`: the allowed words. */
export function* wrongWords(options: Pick<ServerOptions, keyof typeof words>) {
  for (const option of Object.keys(words) as (keyof typeof words)[]) {
    const known: readonly string[] = words[option];
    const value = options[option];
    if (value !== undefined && !known.includes(value)) yield { option, value, known };
  }
}

/** A list for messages: `a, b or c`. */
export function anyOf(known: readonly string[]): string {
  return `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`;
}

/**
 * Checks facts that types alone cannot express: times and counts, and values from programs without types. Throws an
 * XdskitError (XDSKIT_SERVER_OPTION) that names the option.
 */
export function checkOptions(options: ServerOptions, { reviewToken } = options): void {
  const { addresses, keepalive, onDemand, ordering, references, registry } = options;
  const { rest, rollout, tls, types } = options;
  for (const { option, value, known } of wrongWords(options))
    throw wrong(option, anyOf(known.map((word) => JSON.stringify(word))), value);
  if (references !== undefined && references !== "strict" && references !== "refuse" && references !== "warn")
    throw wrong("references", '"strict", "refuse" or "warn"', references);
  if (addresses !== undefined && addresses !== "refuse" && addresses !== "warn")
    throw wrong("addresses", '"refuse" or "warn"', addresses);
  for (const { field, message } of identityFaults(options.identities ?? [], { mayReview: reviewToken !== undefined }))
    throw XdskitError.of("XDSKIT_SERVER_OPTION", `identities${field}: ${message}`);
  checkRollout(rollout);
  if (types !== undefined && typeof types.find !== "function")
    throw wrong("types", "what createResourceTypes of @xdskit/api returns", types);
  if (registry !== undefined && typeof registry.getMessage !== "function")
    throw wrong("registry", "what createRegistry of @xdskit/api returns", registry);
  for (const field of tls === undefined || tls.source !== undefined ? [] : (["certificateFile", "keyFile"] as const)) {
    if (typeof tls?.[field] !== "string" || tls[field] === "")
      throw wrong(`tls.${field}`, "a file's path", tls?.[field]);
  }
  checkNumbers("rest", { holdMs: rest?.holdMs }, "milliseconds, or 0 for not at all", 0);
  checkNumbers("rest", { requestTimeoutMs: rest?.requestTimeoutMs }, "milliseconds above 0", Number.MIN_VALUE);
  checkNumbers("ordering", ordering, "milliseconds", 0);
  checkNumbers("keepalive", { ...keepalive, maxAgeMs: undefined }, "milliseconds", 0);
  checkNumbers("keepalive", { maxAgeMs: keepalive?.maxAgeMs }, "milliseconds", Number.MIN_VALUE);
  if (onDemand !== undefined) checkOnDemand(onDemand);
}

/** The same for the rollout of one change. */
export function checkRollout(rollout: ServerOptions["rollout"]): void {
  for (const { field, message } of rolloutFaults(rollout))
    throw XdskitError.of("XDSKIT_SERVER_OPTION", `rollout.${field}: ${message}`);
}

function checkOnDemand(options: OnDemandOptions): void {
  if (!Array.isArray(options.types) || options.types.length === 0)
    throw wrong("onDemand.types", 'a list of types, such as ["cluster"]', options.types);
  if (typeof options.supply !== "function") throw wrong("onDemand.supply", "a function", options.supply);
  // For these, 0 would mean that nothing is ever supplied, or that a failing supplier is called without a pause.
  const { concurrency, timeoutMs, retryMs, ...others } = limitsOf(options);
  checkNumbers("onDemand", { concurrency, timeoutMs, retryMs }, "a number above 0", Number.MIN_VALUE);
  checkNumbers("onDemand", others, "a number from 0 up", 0);
}

function checkNumbers(name: string, options: object | false | undefined, expected: string, least: number): void {
  for (const [option, value] of Object.entries(options || {}))
    if (value !== undefined && !(value >= least)) throw wrong(`${name}.${option}`, expected, value);
}

function wrong(option: string, expected: string, value: unknown): XdskitError {
  const found = typeof value === "string" ? JSON.stringify(value) : Array.isArray(value) ? "[]" : plain(value);
  return XdskitError.of("XDSKIT_SERVER_OPTION", `${option} must be ${expected}, not ${found}`);
}

/** An object may hold anything, a secret too. */
const plain = (value: unknown) => (typeof value === "object" && value !== null ? "an object" : String(value));
