/** Conditions on a JWT. */
export interface JwtWhen {
  readonly issuer: string;
  /** One of these must be in the token's `aud`. */
  readonly audience: string | readonly string[];
  /** The issuer's public keys (JWKS): a file, or an `https:` URL. Both are read again. */
  readonly jwks?: string | undefined;
  /** In place of `jwks`: the server's `reviewToken` says whether a token is good. */
  readonly review?: true | undefined;
  /** Patterns for claims; a claim that is a list must have one value that matches. Default: none. */
  readonly claims?: Readonly<Record<string, string>> | undefined;
  /** The algorithms that a token may be signed by. Default: `defaultAlgorithms`. */
  readonly algorithms?: readonly string[] | undefined;
}

/** Those with public keys. One with a shared secret (HS…) would make of a public key a secret that signs. */
export const knownAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

/** The algorithms that a token may be signed by, unless the rule says others. */
export const defaultAlgorithms: readonly string[] = knownAlgorithms;
