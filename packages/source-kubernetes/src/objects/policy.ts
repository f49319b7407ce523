import { didYouMean } from "@xdskit/api";
import { durationMs } from "./duration.js";
import type { PolicyFault } from "./object-fault.js";
import { readWongnai } from "./wongnai.js";

/** How clients call a Service, as its annotations say. What is undefined stays as clients have it. */
export interface Policy {
  readonly balancing?: "round_robin" | "least_request" | "ring_hash";
  /** Calls with the same value of this header go to the same pod, with `ring_hash`. */
  readonly hashHeader?: string;
  /** The most that a call may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** How often a failed call is tried again. */
  readonly retries?: number;
  /** The codes of gRPC after which it is. */
  readonly retryOn?: readonly string[];
  /** How long a client waits before it tries again: about so long at first, and never longer than that. */
  readonly backoffMs?: { readonly base: number; readonly most: number };
  /** Calls that a client has open at once. */
  readonly maxRequests?: number;
  /** A pod is left out for a while if this share of its calls fails, in percent. */
  readonly ejectPercent?: number;
  /** Pods there are called first, and others only if none of them answers. */
  readonly failover?: "zone" | "node";
}

const prefix = "xdskit.github.io/";
/** What wins over the field of a Service. */
export const failoverAnnotation = `${prefix}locality-failover`;
/** What a route may name (A44). */
const retried = ["cancelled", "deadline-exceeded", "internal", "resource-exhausted", "unavailable"];
/** gRPC's clients try a call five times at the most. */
const mostRetries = 4;
const failovers = ["zone", "node"] as const;
const balancings = ["round_robin", "least_request", "ring_hash"] as const;

/** Reads the value of an annotation; a string says what is expected. */
const readers: Readonly<Record<string, (text: string) => Policy | string>> = {
  "lb-policy"(text) {
    const balancing = balancings.find((one) => one === text);
    return balancing === undefined ? `one of ${balancings.join(", ")}` : { balancing };
  },
  "hash-header": (text) =>
    /^[a-z0-9_.-]{1,100}$/.test(text) ? { hashHeader: text } : "the name of a header in small letters",
  timeout(text) {
    const timeoutMs = durationMs(text) ?? 0;
    return timeoutMs > 0 ? { timeoutMs } : "a duration above 0, such as 500ms or 2s";
  },
  retries(text) {
    const retries = numberIn(text, 0, mostRetries);
    return retries === undefined ? `a number from 0 to ${mostRetries}` : { retries };
  },
  "retry-on"(text) {
    const retryOn = text.split(",").map((word) => word.trim());
    return retryOn.every((word) => retried.includes(word)) ? { retryOn } : `some of ${retried.join(", ")}, with commas`;
  },
  "retry-backoff"(text) {
    const [base = 0, most = base * 10, ...more] = text.split(",").map((part) => durationMs(part.trim()) ?? 0);
    const isGood = base > 0 && most >= base && more.length === 0;
    return isGood
      ? { backoffMs: { base, most } }
      : "a duration above 0, or two such as 25ms,250ms, the longer one last";
  },
  "max-requests"(text) {
    const maxRequests = numberIn(text, 1, 0xffff_ffff);
    return maxRequests === undefined ? "a number from 1 up" : { maxRequests };
  },
  "eject-failing"(text) {
    const ejectPercent = numberIn(text.replace(/%$/, ""), 1, 100);
    return ejectPercent === undefined ? "a share from 1% to 100%" : { ejectPercent };
  },
  "locality-failover"(text) {
    const failover = failovers.find((one) => one === text);
    return failover === undefined ? `one of ${failovers.join(", ")}` : { failover };
  },
};

function numberIn(text: string, least: number, most: number): number | undefined {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : undefined;
}

/** Reads the annotations of a Service. One that is wrong changes nothing. */
export function readPolicy(annotations: Readonly<Record<string, string>>): {
  readonly policy: Policy;
  readonly faults: readonly PolicyFault[];
} {
  let policy: Policy = {};
  const { translated, faults: notFollowed } = readWongnai(annotations);
  const faults = [...notFollowed];
  const read = (annotation: string, name: string, text: string): boolean => {
    const value = Object.hasOwn(readers, name) ? readers[name]?.(text) : undefined;
    if (typeof value === "object") policy = { ...policy, ...value };
    else if (value !== undefined) faults.push({ annotation, message: `expected ${value}` });
    else faults.push({ annotation, message: `there is no such annotation${didYouMean(name, Object.keys(readers))}` });
    return typeof value === "object";
  };
  // Without the codes, which come first, the others say nothing.
  for (const { annotation, name, text } of translated) if (!read(annotation, name, text) && name === "retry-on") break;
  // Ours last: they win.
  for (const [annotation, text] of Object.entries(annotations))
    if (annotation.startsWith(prefix)) read(annotation, annotation.slice(prefix.length), text);
  return { policy, faults: [...faults, ...uselessIn(policy)] };
}

/** What says nothing without another one. */
function uselessIn({ backoffMs, retries, retryOn, hashHeader, balancing }: Policy): readonly PolicyFault[] {
  const useless = (name: string, message: string) => [{ annotation: `${prefix}${name}`, message }];
  return [
    ...(backoffMs !== undefined && retries === undefined && retryOn === undefined
      ? useless("retry-backoff", "it says nothing without retries or retry-on")
      : []),
    ...(hashHeader !== undefined && balancing !== "ring_hash"
      ? useless("hash-header", "it says nothing without lb-policy: ring_hash")
      : []),
  ];
}
