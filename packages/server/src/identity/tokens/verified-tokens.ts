import { createHash } from "node:crypto";
import type { JWTPayload } from "jose";
import { dropOldest } from "../../basics/maps.js";
import { defaultAlgorithms, type JwtWhen } from "./jwt-when.js";
import { KeySet } from "./key-set.js";

/** The difference between our clock and an issuer's, in seconds. */
const skewSeconds = 30;

/** No issuer writes longer tokens. */
export const maxTokenLength = 16 * 1024;

/** So many verified tokens are remembered. */
export const maxRemembered = 20_000;

/** The claims of a verified token. `exp` is there. */
export type Claims = JWTPayload & { readonly exp: number };

/** Whether the token has begun, and has not ended. */
export function isTimely({ exp, nbf }: Claims): boolean {
  const seconds = Date.now() / 1_000;
  return seconds < exp + skewSeconds && seconds >= (nbf ?? 0) - skewSeconds;
}

interface VerifiedToken {
  /** Undefined: the token is not good. */
  readonly claims: Promise<Claims | undefined> | Claims;
  /** Of the keys that verified it. */
  readonly version: number;
}

/**
 * Verifies the tokens of one issuer for one audience. A verified token is remembered by its hash until it ends, so that
 * clients which all come back at once cost each one look-up.
 */
export class VerifiedTokens {
  readonly #when: WithKeys;
  readonly #keys: KeySet;
  readonly #remembered = new Map<string, VerifiedToken>();
  /** The number of signatures that were verified, for tests. */
  verified = 0;

  constructor(when: WithKeys) {
    this.#when = when;
    this.#keys = new KeySet(when.jwks);
  }

  /** Why the newest keys cannot be used; undefined: they can. */
  get problem(): string | undefined {
    return this.#keys.problem;
  }

  /** The claims of a token; undefined: it is not good, whatever the reason. A promise the first time. */
  claimsOf(token: string): Claims | undefined | Promise<Claims | undefined> {
    if (token.length > maxTokenLength) return undefined;
    const hash = createHash("sha256").update(token).digest("base64");
    const known = this.#remembered.get(hash);
    // Keys may have been withdrawn.
    if (known !== undefined && !(known.claims instanceof Promise) && this.#keys.isDue)
      return this.#keys.refresh().then(() => this.claimsOf(token));
    if (known?.version === this.#keys.version) {
      if (known.claims instanceof Promise || isTimely(known.claims)) return known.claims;
      this.#remembered.delete(hash);
      return undefined;
    }
    return this.#remember(hash, token);
  }

  #remember(hash: string, token: string): Promise<Claims | undefined> {
    const claims = this.#verify(token).then((good) => {
      // A token that is not good is not remembered: anyone can make any number of them.
      this.#remembered.delete(hash);
      if (good !== undefined) this.#remembered.set(hash, { claims: good, version: this.#keys.version });
      return good;
    });
    this.#remembered.set(hash, { claims, version: this.#keys.version });
    dropOldest(this.#remembered, maxRemembered);
    return claims;
  }

  async #verify(token: string): Promise<Claims | undefined> {
    this.verified += 1;
    const { issuer, audience, algorithms = defaultAlgorithms } = this.#when;
    // Loaded only now: a server without such rules starts faster.
    const { jwtVerify } = await import("jose");
    try {
      const { payload } = await jwtVerify(token, this.#keys.find, {
        issuer,
        audience: [...[audience].flat()],
        algorithms: [...algorithms],
        clockTolerance: skewSeconds,
        currentDate: new Date(),
        requiredClaims: ["exp"],
      });
      return payload as Claims;
    } catch {
      // The reason would say something of the token.
      return undefined;
    }
  }
}

type WithKeys = JwtWhen & { readonly jwks: string };

const shared = new Map<string, WeakRef<VerifiedTokens>>();

/** Conditions that are not used any more are forgotten once there are so many. */
const maxShared = 100;

/**
 * The tokens for a condition. Rules that ask for the same, such as those after an edit, share its keys and what was
 * verified: nobody must be verified anew, or be refused while an issuer is slow or away.
 */
export function tokensFor({ issuer, audience, jwks, algorithms }: WithKeys): VerifiedTokens {
  const key = JSON.stringify([issuer, audience, jwks, algorithms]);
  const known = shared.get(key)?.deref();
  if (known !== undefined) return known;
  const made = new VerifiedTokens({ issuer, audience, jwks, algorithms });
  if (shared.size >= maxShared)
    for (const [old, tokens] of shared) if (tokens.deref() === undefined) shared.delete(old);
  shared.set(key, new WeakRef(made));
  return made;
}
