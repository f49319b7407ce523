import type { IncomingMessage } from "node:http";
import { peerOf } from "@xdskit/grpc-server";
import {
  createRules,
  type Evidence,
  evidenceFrom,
  matchesGlob,
  type Proof,
  type Rules,
  readNetworks,
  type When,
} from "@xdskit/server";
import type { ApiCaller, ApiCallerOf, Need } from "../contract/access.js";
import { TokenNames } from "./tokens.js";
import { usualWritesPerSecond, WriteShares } from "./write-shares.js";

/** The settings that say who may do what. */
export interface AccessSettings {
  readonly tokens?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly roles?: readonly Role[] | undefined;
  readonly trusted_proxies?: TrustedProxies | undefined;
}

/** Who it is about, and what they may. */
export interface Role {
  readonly when: RoleWhen;
  /** `write:LAYER` is `write` in that layer only. */
  readonly may: readonly (Need | `write:${string}`)[];
  /** Changes over the API of each caller of the role, sustained. */
  readonly writes_per_second?: number | undefined;
}

/** All that is given must hold. */
interface RoleWhen extends When {
  /** The user whom a trusted proxy names; a glob. */
  readonly user?: string | undefined;
}

/** The proxies that log people in. */
export interface TrustedProxies {
  /** Addresses, networks such as 10.0.0.0/8, and `unix` for those that come over the Unix socket. */
  readonly from: readonly string[];
  /** The host name by which browsers call the proxy. */
  readonly host?: string | undefined;
}

interface RoleInUse extends Role {
  /** For logs: `roles[0]`. */
  readonly rule: string;
  readonly rules: Rules;
  /** Whether a caller may make another change now. */
  readonly takes: (identity: string) => boolean;
}

/** Who sent a request, by these roles. */
interface KnownCaller {
  readonly caller: ApiCaller | "anybody" | undefined;
  readonly roles: readonly RoleInUse[] | undefined;
  /** Since when other roles judge the sender anew, in milliseconds since 1970; undefined: they do not. */
  judgedSince?: number;
}

/** So long who sent an open request counts by the roles before, while an issuer's keys are awaited. */
const longestJudgementMs = 30_000;

/** Longer names of users are of nobody. */
const maxUserLength = 256;

/** Decides who sends a request, by the settings in use. */
export class Access {
  #roles: readonly RoleInUse[] | undefined;
  /** Whether the admin listener is a Unix socket: a connection that is gone does not know any more how it came. */
  isUnix = false;
  #isProxy: (evidence: Evidence) => boolean = () => false;
  #host: string | undefined;
  #tokens = new TokenNames({});
  /** Processes that serve together: each allows a caller its part. */
  readonly #workers: number;
  readonly #writes = new WriteShares();
  #inUse: AccessSettings = {};
  readonly #known = new WeakMap<IncomingMessage, KnownCaller>();

  constructor(workers = 1) {
    this.#workers = workers;
  }

  /**
   * Decides by these settings while others take over the same ones, and from then on; by those before if that fails or
   * takes nothing over. What is judged meanwhile knows the tokens that are there, and not those that are gone.
   */
  async trying<T>(settings: AccessSettings | undefined, take: () => Promise<T> | undefined): Promise<T | undefined> {
    const before = this.#inUse;
    if (settings !== undefined) this.use(settings);
    let taken: T | undefined;
    try {
      taken = await take();
      return taken;
    } finally {
      if (taken === undefined) this.use(before);
    }
  }

  /** From now on, by these. */
  use(settings: AccessSettings): void {
    const { roles, tokens = {}, trusted_proxies: proxies } = settings;
    this.#inUse = settings;
    this.#tokens = new TokenNames(tokens);
    const tokenName = this.tokenName;
    this.#roles = roles?.map(({ when: { user, ...when }, may, writes_per_second = usualWritesPerSecond }, index) => {
      const perSecond = writes_per_second / this.#workers;
      const rule = `roles[${index}]`;
      // Of each role apart: a user may have the name that another role gives to a token.
      const takes = (identity: string) => this.#writes.takes(`${rule} ${identity}`, perSecond);
      return { when: { ...when, user }, may, takes, rule, rules: createRules([when], { tokenName }) };
    });
    this.#isProxy = proxiesIn(proxies?.from ?? []);
    this.#host = proxies?.host;
  }

  /** Whether somebody must say who it is. */
  get isGuarded(): boolean {
    return this.#roles !== undefined;
  }

  /** The name by which a trusted proxy is called. */
  get host(): string | undefined {
    return this.#host;
  }

  /** The name of a token; undefined: it is not known. */
  readonly tokenName = (token: string): string | undefined => this.#tokens.nameOf(token);

  /** Finds out who sends a request, which takes time if a role asks for a JWT. `callerOf` knows it from then on. */
  async judge(request: IncomingMessage): Promise<void> {
    const roles = this.#roles;
    if (!roles?.some(({ when }) => when.jwt !== undefined)) return;
    await this.#keep(request, this.#judge(request), roles);
  }

  async #keep(request: IncomingMessage, judged: JudgedCaller | "anybody", roles: KnownCaller["roles"]): Promise<void> {
    // Kept in any case: a moment later it could take time again.
    const caller = judged instanceof Promise ? await judged.catch(() => undefined) : judged;
    this.#known.set(request, { caller, roles });
  }

  readonly callerOf: ApiCallerOf = (request, meanwhile) => {
    const known = this.#known.get(request);
    // Judged by the roles of now: those of before may have been taken away.
    if (known !== undefined && known.roles === this.#roles) return known.caller;
    const caller = this.#judge(request);
    if (!(caller instanceof Promise)) return caller;
    // For a long request that is asked about again, after the roles have changed.
    void this.#keep(request, caller, this.#roles);
    if (known === undefined || meanwhile === undefined) return undefined;
    known.judgedSince ??= Date.now();
    return Date.now() - known.judgedSince < longestJudgementMs ? known.caller : undefined;
  };

  #judge(request: IncomingMessage): JudgedCaller | "anybody" {
    const roles = this.#roles;
    if (roles === undefined) return "anybody";
    const evidence = evidenceFrom(peerOf(request.socket, this.isUnix), request.headers.authorization);
    if (!this.#isProxy(evidence)) return callerIn(roles, evidence, undefined);
    // Whatever else holds for a proxy's connection holds for all whom it serves: only who it names, or a token, counts.
    const ofPeople = roles.filter(({ when: { user, token, jwt } }) => (user ?? token ?? jwt) !== undefined);
    return callerIn(ofPeople, evidence, userIn(request));
  }

  /** Whether a caller over gRPC may read what all clients have; undefined: there are no roles. */
  readonly reads = (evidence: Evidence): boolean | undefined | Promise<boolean> => {
    if (this.#roles === undefined) return undefined;
    const caller = callerIn(this.#roles, evidence, undefined);
    return caller instanceof Promise ? caller.then(mayRead) : mayRead(caller);
  };
}

/** Who sends a request. A promise while its JWT is verified. */
type JudgedCaller = ApiCaller | undefined | Promise<ApiCaller | undefined>;

const mayRead = (caller: ApiCaller | undefined) => caller?.may("read", undefined) ?? false;

/** Whether a connection is one of a trusted proxy. */
function proxiesIn(from: readonly string[]): (evidence: Evidence) => boolean {
  const networks = readNetworks(from.filter((text) => text !== "unix"));
  return ({ address, isUnix }) =>
    isUnix ? from.includes("unix") : typeof networks !== "string" && networks.has(address);
}

/** The user whom a trusted proxy names. */
function userIn({ headers }: IncomingMessage): string | undefined {
  const user = headers["x-forwarded-user"];
  return typeof user === "string" && user.length > 0 && user.length <= maxUserLength ? user : undefined;
}

/** The first role that the caller has. */
function callerIn(roles: readonly RoleInUse[], evidence: Evidence, user: string | undefined, first = 0): JudgedCaller {
  for (const [at, role] of roles.entries()) {
    if (at < first || !isOf(role.when.user, user)) continue;
    const callerBy = (proof: Proof | undefined) => proof && callerWith(role, proof, user);
    const proof = role.rules.prove(evidence);
    if (proof instanceof Promise)
      return proof.then((known) => callerBy(known) ?? callerIn(roles, evidence, user, at + 1));
    if (proof !== undefined) return callerBy(proof);
  }
  return undefined;
}

function isOf(pattern: string | undefined, user: string | undefined): boolean {
  return pattern === undefined || (user !== undefined && matchesGlob(pattern, user));
}

function callerWith({ when, may, takes, rule }: RoleInUse, proof: Proof, user = ""): ApiCaller {
  const { proved, identity, endsAt } = proof;
  const isUser = when.user !== undefined;
  return {
    name: isUser ? user : proved,
    endsAt,
    takes: () => takes(isUser ? user : identity),
    rule,
    may: (need, layer) =>
      may.some((one) => {
        if (one === need) return true;
        return need === "write" && one.startsWith("write:") && (layer === undefined || one === `write:${layer}`);
      }),
  };
}
