import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** The beginning of every token: those who find one in a log see what it is. */
const prefix = "xdskit_";

/**
 * A token that nobody can guess: 256 random bits.
 *
 * @example
 * ```ts
 * import { hashOfToken, newToken } from "@xdskit/admin/tokens";
 *
 * const token = newToken(); // for whoever calls
 * const tokens = { ci: [hashOfToken(token)] }; // for createAdmin({ access: { tokens, roles } })
 * ```
 */
export function newToken(): string {
  return prefix + randomBytes(32).toString("base64url");
}

/** What the settings keep of a token. Nobody guesses 256 bits, so a fast hash does. */
export function hashOfToken(token: string): string {
  return `sha256:${digest(token).toString("hex")}`;
}

/** The form of `hashOfToken`. */
export const tokenHash = /^sha256:[0-9a-f]{64}$/;

/** The form of a token's name. */
export const tokenName = /^[A-Za-z0-9][\w.-]{0,99}$/;

/** The names of tokens, found by the token in a time that says nothing about their hashes. */
export class TokenNames {
  readonly #digests: readonly (readonly [name: string, digest: Buffer])[];

  /** `tokens`: the hashes by name. */
  constructor(tokens: Readonly<Record<string, readonly string[]>>) {
    this.#digests = Object.entries(tokens).flatMap(([name, hashes]) =>
      hashes.map((hash) => [name, Buffer.from(hash.slice("sha256:".length), "hex")] as const),
    );
  }

  /** The name of a token; undefined: it is not known. */
  nameOf(token: string): string | undefined {
    const given = digest(token);
    let found: string | undefined;
    for (const [name, digest] of this.#digests) if (timingSafeEqual(digest, given)) found = name;
    return found;
  }
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
