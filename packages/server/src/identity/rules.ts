import { certificateNames } from "./certificate-names.js";
import { faultsOfKinds } from "./condition-kinds.js";
import { type Condition, type Proven, readConditions, type Shown } from "./conditions.js";
import { bearerOf, type Evidence } from "./evidence.js";
import { type Captured, namesIn } from "./patterns/text-pattern.js";
import { type JwtCondition, readJwt, type WhenFault } from "./tokens/jwt-condition.js";
import type { TokenReview } from "./tokens/reviewed-tokens.js";
import type { When } from "./when.js";

/** The first rule whose conditions hold, and what they proved. */
export interface Proof {
  /** Of the rule, from 0. */
  readonly index: number;
  /** For logs; no secret. */
  readonly proved: string;
  /** Equal for calls of the same caller: its credentials, and from where it calls only if it has none. */
  readonly identity: string;
  /** Whether it has any. */
  readonly hasCredential: boolean;
  readonly captured: Captured;
  /** When the certificate or the token ends, in milliseconds since 1970; undefined: never. */
  readonly endsAt: number | undefined;
}

/** Rules in order: the first that holds wins. */
export interface Rules {
  /** Undefined: none holds. A promise only while a token is verified for the first time. Never rejects. */
  prove(evidence: Evidence): Proof | undefined | Promise<Proof | undefined>;
  /** What was shown, for the log of a refusal; no secret. */
  shown(evidence: Evidence): string;
}

/** What rules ask besides the evidence. */
export interface RulesOptions {
  /** The name of a token whose hash is known; undefined: it is not. Default: there are no such tokens. */
  readonly tokenName?: ((token: string) => string | undefined) | undefined;
  /** Says whether a token is good, for `review` in a condition `jwt`. Default: none is. */
  readonly reviewToken?: TokenReview | undefined;
  /** In milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

interface RuleOfNode {
  readonly conditions: readonly Condition[];
  readonly token: string | undefined;
  readonly jwt: JwtCondition | undefined;
  /** Whether a certificate is part of what holds: then the proof ends with it. */
  readonly asksCertificate: boolean;
}

/**
 * What is wrong with the conditions of one rule, and the names that its patterns keep. `mayReview`: whether somebody
 * can review tokens there.
 */
export function checkWhen(
  when: When,
  { mayReview = false }: { readonly mayReview?: boolean } = {},
): { readonly faults: readonly WhenFault[]; readonly names: readonly string[] } {
  const ofKinds = faultsOfKinds(when);
  if (ofKinds.length > 0) return { faults: ofKinds, names: [] };
  const { faults } = readConditions(when);
  if (when.jwt !== undefined)
    for (const { field, message } of readJwt(when.jwt).faults) faults.push({ field: `jwt.${field}`, message });
  if (when.jwt?.review !== undefined && !mayReview)
    faults.push({
      field: "jwt.review",
      message: "only identities of serve --kubernetes have tokens reviewed: give keys (jwks)",
    });
  if (when.token === "") faults.push({ field: "token", message: "it must not be empty" });
  if (Object.values(when).every((value) => value === undefined))
    faults.push({ field: "", message: "it needs a condition: spiffe, dns, uri, subject, jwt, unix, network or token" });
  const patterns = [when.spiffe, when.dns, when.uri, when.subject, ...Object.values(when.jwt?.claims ?? {})];
  const names = patterns.flatMap((pattern) => (pattern === undefined ? [] : namesIn(pattern)));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) faults.push({ field: "", message: `two patterns keep a part as {${twice}}` });
  return { faults, names };
}

/** Makes rules that `checkWhen` has nothing against. */
export function createRules(whens: readonly When[], options: RulesOptions = {}): Rules {
  const { tokenName = () => undefined, now = Date.now } = options;
  const rules = whens.map((when) => readRule(when, options.reviewToken));

  function proveFrom(first: number, shown: Shown, evidence: Evidence): ReturnType<Rules["prove"]> {
    for (let index = first; index < rules.length; index++) {
      const rule = rules[index] as RuleOfNode;
      const proven = holding(rule, shown, evidence);
      if (proven === undefined) continue;
      const certificateEnd = rule.asksCertificate ? shown.names?.validTo : undefined;
      if (rule.jwt === undefined) return proofOf(index, proven, certificateEnd);
      const { jwt } = rule;
      const token = bearerOf(evidence);
      const claims = token === undefined ? undefined : jwt.tokens.claimsOf(token);
      const decide = (claims: Parameters<typeof jwt.match>[0] | undefined) => {
        const more = claims && jwt.match(claims);
        return (
          more && proofOf(index, [...proven, more], Math.min(more.endsAt, certificateEnd ?? Number.POSITIVE_INFINITY))
        );
      };
      if (claims instanceof Promise)
        return claims.then((known) => decide(known) ?? proveFrom(index + 1, shown, evidence));
      const proof = decide(claims);
      if (proof !== undefined) return proof;
    }
    return undefined;
  }

  function holding({ conditions, token }: RuleOfNode, shown: Shown, evidence: Evidence): readonly Proven[] | undefined {
    const proven: Proven[] = [];
    for (const condition of conditions) {
      const one = condition(shown);
      if (one === undefined) return undefined;
      proven.push(one);
    }
    if (token === undefined) return proven;
    const bearer = bearerOf(evidence);
    if (bearer === undefined || tokenName(bearer) !== token) return undefined;
    return [...proven, { proved: `token ${token}`, captured: new Map() }];
  }

  return {
    prove: (evidence) => proveFrom(0, shownBy(evidence, now), evidence),
    shown: (evidence) => shownText(shownBy(evidence, now), evidence),
  };
}

function readRule(when: When, reviewToken: TokenReview | undefined): RuleOfNode {
  const { spiffe, dns, uri, subject, token, jwt } = when;
  return {
    conditions: readConditions(when).conditions,
    token,
    jwt: jwt && readJwt(jwt, reviewToken).condition,
    asksCertificate: [spiffe, dns, uri, subject].some((pattern) => pattern !== undefined),
  };
}

/** A certificate that has ended since its connection began proves nothing any more. */
function shownBy({ certificate, address, isUnix, user }: Evidence, now: () => number): Shown {
  const names = certificate && certificateNames(certificate);
  return { address, isUnix, user, names: names !== undefined && names.validTo > now() ? names : undefined };
}

function proofOf(index: number, proven: readonly Proven[], endsAt: number | undefined): Proof {
  const captured = new Map(proven.flatMap((one) => [...one.captured]));
  const credentials = proven.filter(({ isPlace }) => isPlace !== true);
  const hasCredential = credentials.length > 0;
  const identity = (hasCredential ? credentials : proven).map((one) => one.identity ?? one.proved).join("; ");
  return { index, proved: textOf(proven), identity, hasCredential, captured, endsAt };
}

const textOf = (proven: readonly Proven[]) => proven.map(({ proved }) => proved).join("; ");

function shownText({ names, address, isUnix, user }: Shown, { authorization, certificate }: Evidence): string {
  const uid = user();
  const place = isUnix ? "a Unix socket" : `address ${address || "unknown"}`;
  const parts = [uid === undefined ? place : `${place} of user ${uid}`];
  if (names === undefined) parts.push(certificate === undefined ? "no certificate" : "a certificate that has ended");
  else {
    const { spiffe, subject, dns, uris } = names;
    parts.push(`certificate ${(spiffe ?? subject ?? dns[0] ?? uris[0] ?? "without a name").slice(0, 300)}`);
  }
  parts.push(authorization === undefined ? "no token" : "a token");
  return parts.join(", ");
}
