import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { dropOldest } from "../../basics/maps.js";
import type { JwtWhen } from "./jwt-when.js";
import { type Claims, isTimely, maxRemembered, maxTokenLength } from "./verified-tokens.js";

/**
 * Asks whoever gave out a token, such as the API server of Kubernetes, whose it is: its subject, if it is good for one
 * of these audiences; undefined if it is not. Rejects if nobody answers.
 */
export type TokenReview = (token: string, audiences: readonly string[]) => Promise<string | undefined>;

/** How long an answer counts, in milliseconds: as long as the API server itself keeps those of others. */
const countsMs = 2 * 60_000;

/** So many questions are open at once, and so many new callers wait for their turn; further ones are refused. */
const most = { open: 20, waiting: 5_000 } as const;

/** After a question that nobody answered, none is asked for so long: thousands may wait, in milliseconds. */
const pauseMs = 1_000;

interface Reviewed {
  readonly claims: Claims;
  readonly at: number;
}

/** Tokens of one issuer for one audience that are good if a review says so. An answer counts for a while. */
export class ReviewedTokens {
  readonly #issuer: string;
  readonly #audiences: readonly string[];
  readonly #review: TokenReview;
  readonly #remembered = new Map<string, Reviewed | Promise<Claims | undefined>>();
  #open = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  readonly #waiting: (() => void)[] = [];

  constructor({ issuer, audience }: JwtWhen, review: TokenReview) {
    this.#issuer = issuer;
    this.#audiences = [audience].flat();
    this.#review = review;
  }

  /** The claims of a token; undefined: it is not good, whatever the reason. A promise while it is reviewed. */
  claimsOf(token: string): Claims | undefined | Promise<Claims | undefined> {
    if (token.length > maxTokenLength) return undefined;
    const hash = createHash("sha256").update(token).digest("base64");
    const known = this.#remembered.get(hash);
    if (known instanceof Promise) return known;
    if (known !== undefined && (performance.now() - known.at < countsMs || this.#isPaused))
      return isTimely(known.claims) ? known.claims : undefined;
    const asked = this.#ask(token, known?.claims).then((claims) => {
      // A token that is not good is not remembered: anyone can make any number of them.
      this.#remembered.delete(hash);
      if (claims !== undefined) this.#remembered.set(hash, { claims, at: performance.now() });
      return claims;
    });
    this.#remembered.set(hash, asked);
    dropOldest(this.#remembered, maxRemembered);
    return asked;
  }

  /** While nobody answers, `before` counts on. */
  async #ask(token: string, before: Claims | undefined): Promise<Claims | undefined> {
    const claims = await this.#read(token);
    if (claims === undefined) return undefined;
    // Anyone can make thousands of tokens: those that were good, which are few enough, need not wait for them.
    if (before === undefined && this.#waiting.length >= most.waiting) return undefined;
    if (this.#open < most.open) this.#open += 1;
    else await new Promise<void>((resolve) => this.#waiting[before === undefined ? "push" : "unshift"](resolve));
    try {
      if (this.#isPaused) return before;
      // What the token says of itself counts only as far as they say the same.
      return (await this.#review(token, this.#audiences)) === claims.sub ? claims : undefined;
    } catch {
      this.#failedAt = performance.now();
      return before;
    } finally {
      // The next one has this place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#open -= 1;
      else next();
    }
  }

  get #isPaused(): boolean {
    return performance.now() - this.#failedAt < pauseMs;
  }

  /** What the token says of itself: nobody is asked about one that cannot be good here. */
  async #read(token: string): Promise<Claims | undefined> {
    const { decodeJwt } = await import("jose");
    try {
      const { exp, ...claims } = decodeJwt(token);
      const isMeant =
        claims.iss === this.#issuer &&
        claims.sub !== undefined &&
        [claims.aud].flat().some((one) => this.#isAudience(one));
      return isMeant && typeof exp === "number" && isTimely({ ...claims, exp }) ? { ...claims, exp } : undefined;
    } catch {
      return undefined;
    }
  }

  #isAudience(one: string | undefined): boolean {
    return one !== undefined && this.#audiences.includes(one);
  }
}

const shared = new WeakMap<TokenReview, Map<string, WeakRef<ReviewedTokens>>>();

/** The same for rules that ask for the same, also after an edit. Without a review no token is good. */
export function reviewedTokensFor(when: JwtWhen, review: TokenReview = async () => undefined): ReviewedTokens {
  const key = JSON.stringify([when.issuer, when.audience]);
  const known = shared.get(review) ?? new Map<string, WeakRef<ReviewedTokens>>();
  const found = known.get(key)?.deref();
  if (found !== undefined) return found;
  const made = new ReviewedTokens(when, review);
  shared.set(review, known.set(key, new WeakRef(made)));
  return made;
}
