/// <reference types="node" preserve="true" />
import type { IncomingMessage } from "node:http";

/**
 * What a request needs. `read`: to see. `operate`: to lead rollouts, quarantines and rollbacks. `write`: to change a
 * layer, and its leases.
 */
export type Need = "read" | "operate" | "write";

/** Who sends a request, as it proved it, and what it may do. */
export interface ApiCaller {
  /** The author of what it changes. */
  readonly name: string;
  /** The rule that lets it in, for logs: `roles[0]`. */
  readonly rule: string;
  /** When what it proved ends, in milliseconds since 1970. Left out: never. */
  readonly endsAt?: number | undefined;
  /** Without a layer: whether it may that in any layer. */
  may(need: Need, layer?: string): boolean;
  /** Begins a change. False: it has made too many for now. Left out: it may make any number. */
  takes?(): boolean;
}

/** Why a request without a known sender is refused. */
export const unknownCaller = "this server has roles: show a token that it knows (authorization: Bearer …)";

/** Why a known sender is refused. */
export function mayNot({ name }: ApiCaller, need: Need | "nothing", layer?: string): string {
  const what = need === "write" && layer !== undefined ? `write:${layer}` : need;
  return `${JSON.stringify(name)} may not ${what} by the roles of this server`;
}

/** Why a change of a sender who may make it is refused for now. */
export function tooManyWrites({ name, rule }: ApiCaller): string {
  return `${JSON.stringify(name)} makes more changes than it may: wait a second, or raise writes_per_second of ${rule}`;
}

/**
 * Finds out who sends a request. `anybody`: there are no roles, and all may do everything. Undefined: nobody known.
 * `meanwhile`: of an open request whose sender the roles of now have not judged yet, the one by the roles before.
 */
export type ApiCallerOf = (request: IncomingMessage, meanwhile?: "meanwhile") => ApiCaller | "anybody" | undefined;
