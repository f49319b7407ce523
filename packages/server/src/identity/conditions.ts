import { knowUnixUsers } from "@xdskit/grpc-server";
import type { CertificateNames } from "./certificate-names.js";
import type { Evidence } from "./evidence.js";
import { readNetworks } from "./networks.js";
import { type Captured, type PatternRules, readPattern, type TextPattern } from "./patterns/text-pattern.js";
import type { WhenFault } from "./tokens/jwt-condition.js";
import type { When } from "./when.js";

/** What a condition proved. */
export interface Proven {
  /** For logs, such as `spiffe://mesh.example/ns/a/sa/b`. No secret. */
  readonly proved: string;
  readonly captured: Captured;
  /** What tells its caller from others, if that is more than `proved`. */
  readonly identity?: string | undefined;
  /** It says from where the call came, and not who calls. */
  readonly isPlace?: true | undefined;
}

/** The part of the evidence that conditions ask; the names are read when one asks. */
export interface Shown extends Pick<Evidence, "address" | "isUnix" | "user"> {
  readonly names: CertificateNames | undefined;
}

/** A condition that needs no token. Undefined: it does not hold. */
export type Condition = (shown: Shown) => Proven | undefined;

type NamePattern = "spiffe" | "dns" | "uri" | "subject";

const rulesOf: Readonly<Record<NamePattern, PatternRules>> = {
  spiffe: { separator: "/", star: "whole-last" },
  dns: { separator: ".", star: "anywhere" },
  uri: { separator: "/", star: "anywhere" },
  subject: { separator: ",", star: "anywhere" },
};

const valuesOf: Readonly<Record<NamePattern, (names: CertificateNames) => readonly string[]>> = {
  spiffe: ({ spiffe }) => (spiffe === undefined ? [] : [spiffe]),
  dns: ({ dns }) => dns,
  uri: ({ uris }) => uris,
  subject: ({ subject }) => (subject === undefined ? [] : [subject]),
};

/** More names of a certificate are not looked at. */
const maxNames = 100;

/** Makes the conditions that need no token, and says what is wrong with them. */
export function readConditions(when: When): {
  readonly conditions: readonly Condition[];
  readonly faults: WhenFault[];
} {
  const conditions: Condition[] = [];
  const faults: WhenFault[] = [];
  for (const kind of ["spiffe", "dns", "uri", "subject"] as const) {
    const text = when[kind];
    if (text === undefined) continue;
    const pattern = readNamePattern(kind, text);
    if (typeof pattern === "string") faults.push({ field: kind, message: pattern });
    else conditions.push(nameCondition(kind, pattern));
  }
  const { unix, network } = when;
  if (typeof unix === "object") {
    const unknown = knowUnixUsers();
    if (unknown !== undefined) faults.push({ field: "unix", message: unknown });
    const users: readonly (number | undefined)[] = [unix.uid].flat();
    conditions.push(({ user }) => {
      const uid = user();
      return uid !== undefined && users.includes(uid) ? { proved: `unix user ${uid}`, captured: none } : undefined;
    });
  } else if (unix !== undefined)
    conditions.push(({ isUnix }) =>
      isUnix === unix ? { proved: unix ? "unix" : "no unix", captured: none, isPlace: true } : undefined,
    );
  if (network !== undefined) {
    const list = readNetworks([network].flat());
    if (typeof list === "string") faults.push({ field: "network", message: list });
    else
      conditions.push(({ address, isUnix }) =>
        !isUnix && list.has(address) ? { proved: address, captured: none, isPlace: true } : undefined,
      );
  }
  return { conditions, faults };
}

function readNamePattern(kind: NamePattern, text: string): TextPattern | string {
  if (kind === "spiffe") {
    const [, domain] = /^spiffe:\/\/([^/]*)(?:\/|$)/.exec(text) ?? [];
    if (domain === undefined || !/^[a-z0-9._-]+$/.test(domain))
      return "it begins with spiffe:// and the whole trust domain, such as spiffe://mesh.example/ns/{ns}/sa/{sa}";
  }
  return readPattern(kind === "dns" ? lowerOutsideNames(text) : text, rulesOf[kind]);
}

function lowerOutsideNames(text: string): string {
  return text.replace(/\{[^}]*\}|[^{]+/g, (piece) => (piece.startsWith("{") ? piece : piece.toLowerCase()));
}

function nameCondition(kind: NamePattern, pattern: TextPattern): Condition {
  return ({ names }) => {
    for (const value of names === undefined ? [] : valuesOf[kind](names).slice(0, maxNames)) {
      const captured = pattern.match(value);
      if (captured !== undefined) return { proved: `${kind} ${value}`, captured };
    }
    return undefined;
  };
}

const none: Captured = new Map();
