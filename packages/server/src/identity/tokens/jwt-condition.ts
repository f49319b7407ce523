import { type Captured, readPattern, type TextPattern } from "../patterns/text-pattern.js";
import { type JwtWhen, knownAlgorithms } from "./jwt-when.js";
import { reviewedTokensFor, type TokenReview } from "./reviewed-tokens.js";
import { type Claims, tokensFor, type VerifiedTokens } from "./verified-tokens.js";

/** What a token proved. */
export interface ProvedByToken {
  /** For logs: the issuer and the claims that the rule asks for. */
  readonly proved: string;
  /** With the token's subject, also if the rule does not ask for it: all of an issuer are not one caller. */
  readonly identity: string;
  readonly captured: Captured;
  /** In milliseconds since 1970. */
  readonly endsAt: number;
}

/** The condition `jwt` of a rule. */
export interface JwtCondition {
  readonly tokens: Pick<VerifiedTokens, "claimsOf">;
  /** What the claims prove; undefined: one does not match. */
  match(claims: Claims): ProvedByToken | undefined;
}

/** What is wrong with a condition. */
export interface WhenFault {
  /** Below `when` or `when.jwt`, such as `spiffe` or `claims.sub`; empty for that itself. */
  readonly field: string;
  readonly message: string;
}

/** Makes the condition, or says what is wrong with it. */
export function readJwt(
  when: JwtWhen,
  reviewToken?: TokenReview,
): { readonly condition: JwtCondition; readonly faults: readonly WhenFault[] } {
  const faults: WhenFault[] = [];
  const patterns = new Map<string, TextPattern>();
  for (const [claim, text] of Object.entries(when.claims ?? {})) {
    const pattern = readPattern(text, { separator: ":", star: "anywhere" });
    if (typeof pattern === "string") faults.push({ field: `claims.${claim}`, message: pattern });
    else patterns.set(claim, pattern);
  }
  if (when.issuer === "") faults.push({ field: "issuer", message: "it must not be empty" });
  const audiences = [when.audience].flat();
  if (audiences.length === 0 || audiences.includes(""))
    faults.push({ field: "audience", message: "it must not be empty" });
  const { jwks = "", review } = when;
  if (review !== undefined && review !== true) faults.push({ field: "review", message: "expected true" });
  if ((when.jwks === undefined) === (review === undefined))
    faults.push({ field: "jwks", message: "expected the issuer's keys, or review: true in place of them" });
  if (review !== undefined && when.algorithms !== undefined)
    faults.push({ field: "algorithms", message: "a review decides that: leave it out" });
  if (/^[a-z][a-z0-9+.-]+:/i.test(jwks) && !/^https:\/\/[^/]/i.test(jwks))
    faults.push({ field: "jwks", message: "keys come from a file or an https URL" });
  for (const algorithm of when.algorithms ?? [])
    if (!(knownAlgorithms as readonly string[]).includes(algorithm))
      faults.push({
        field: "algorithms",
        message: `${JSON.stringify(algorithm)} is none of ${knownAlgorithms.join(", ")}`,
      });
  if (when.algorithms?.length === 0) faults.push({ field: "algorithms", message: "name one" });
  const tokens = review === true ? reviewedTokensFor(when, reviewToken) : tokensFor({ ...when, jwks });
  return { condition: { tokens, match: (claims) => matchClaims(when.issuer, patterns, claims) }, faults };
}

function matchClaims(
  issuer: string,
  patterns: ReadonlyMap<string, TextPattern>,
  claims: Claims,
): ProvedByToken | undefined {
  const captured = new Map<string, string>();
  const shown: string[] = [];
  for (const [claim, pattern] of patterns) {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    const values = (Array.isArray(value) ? value.slice(0, 100) : [value]).filter((one) => typeof one === "string");
    const found = values.find((one) => pattern.match(one) !== undefined);
    if (found === undefined) return undefined;
    for (const [name, text] of pattern.match(found) ?? []) captured.set(name, text);
    shown.push(`${claim} ${found}`);
  }
  const proved = `jwt of ${issuer} ${shown.join(", ")}`.trim();
  const { sub } = claims;
  const identity = typeof sub === "string" ? JSON.stringify([proved, sub]) : proved;
  return { proved, identity, captured, endsAt: claims.exp * 1_000 };
}
