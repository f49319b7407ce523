import type { IncomingMessage } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import type { ApiCaller, ApiCallerOf, Need } from "@xdskit/admin";
import { matchesGlob } from "@xdskit/server";
import { TokenNames } from "../settings/token.js";

/** The settings that say who may do what. */
export interface AccessSettings {
  readonly tokens?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly roles?: readonly Role[] | undefined;
  readonly trusted_proxies?: TrustedProxies | undefined;
}

/** Who it is about, and what they may. */
export interface Role {
  /** All that is given must hold. */
  readonly when: When;
  /** `write:LAYER` is `write` in that layer only. */
  readonly may: readonly (Need | `write:${string}`)[];
}

interface When {
  /** The name of a token. */
  readonly token?: string | undefined;
  /** The user whom a trusted proxy names; a glob. */
  readonly user?: string | undefined;
  /** It comes over the Unix socket, whose file says who may use it. */
  readonly unix?: true | undefined;
}

/** The proxies that log people in. */
export interface TrustedProxies {
  /** Addresses, networks such as 10.0.0.0/8, and `unix` for those that come over the Unix socket. */
  readonly from: readonly string[];
  /** The host name by which browsers call the proxy. */
  readonly host?: string | undefined;
}

/** What a request proved. */
interface Proof {
  readonly token: string | undefined;
  readonly user: string | undefined;
  readonly isUnix: boolean;
}

/** Longer names of users are of nobody. */
const maxUserLength = 256;

/** Decides who sends a request, by the settings in use. */
export class Access {
  #roles: readonly Role[] | undefined;
  #tokens = new TokenNames({});
  #proxies: readonly string[] = [];
  #networks = new BlockList();
  #host: string | undefined;

  constructor(settings: AccessSettings = {}) {
    this.use(settings);
  }

  /** From now on, by these. */
  use({ roles, tokens = {}, trusted_proxies: proxies }: AccessSettings): void {
    this.#roles = roles;
    this.#tokens = new TokenNames(tokens);
    this.#proxies = proxies?.from ?? [];
    this.#networks = networksOf(this.#proxies);
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

  readonly callerOf: ApiCallerOf = (request) => {
    const roles = this.#roles;
    if (roles === undefined) return "anybody";
    const proof = this.#proofOf(request);
    const at = roles.findIndex(({ when }) => holds(when, proof));
    const role = roles[at];
    return role && callerWith(role, at, proof);
  };

  #proofOf({ headers, socket }: IncomingMessage): Proof {
    const { remoteAddress } = socket;
    const isUnix = remoteAddress === undefined && !socket.destroyed;
    const isProxy = isUnix ? this.#proxies.includes("unix") : isIn(this.#networks, remoteAddress);
    const user = isProxy ? headers["x-forwarded-user"] : undefined;
    const isName = typeof user === "string" && user.length > 0 && user.length <= maxUserLength;
    return { token: this.#tokens.nameOf(headers.authorization), user: isName ? user : undefined, isUnix };
  }
}

function holds({ token, user, unix }: When, proof: Proof): boolean {
  if (token !== undefined && token !== proof.token) return false;
  if (user !== undefined && (proof.user === undefined || !matchesGlob(user, proof.user))) return false;
  return unix === undefined || proof.isUnix;
}

function callerWith({ when, may }: Role, at: number, { token, user }: Proof): ApiCaller & { readonly rule: string } {
  const name =
    when.user !== undefined && user !== undefined
      ? user
      : when.token !== undefined && token !== undefined
        ? `token ${token}`
        : "unix";
  return {
    name,
    rule: `roles[${at}]`,
    may: (need, layer) =>
      may.some((one) => {
        if (one === need) return true;
        return need === "write" && one.startsWith("write:") && (layer === undefined || one === `write:${layer}`);
      }),
  };
}

/** An IPv4 address on an IPv6 socket is written as IPv6. */
function isIn(networks: BlockList, address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "").replace(/%.*$/, "");
  return networks.check(plain, isIPv6(plain) ? "ipv6" : "ipv4");
}

function networksOf(proxies: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const text of proxies) {
    if (text === "unix") continue;
    const [address = "", length] = text.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (length === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(length), family);
  }
  return networks;
}
