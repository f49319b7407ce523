import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** Issues tokens for the audience "xdskit". */
export interface Issuer {
  /** Its keys, as it gives them to everybody. */
  readonly jwks: { readonly keys: readonly object[] };
  /** A token that ends after some seconds. */
  sign(sub: string, seconds?: number): Promise<string>;
}

/** Makes an issuer with one key. */
export async function createIssuer({ iss = "https://issuer", kid = "one" } = {}): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  return {
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: "ES256" }] },
    sign: (sub, seconds = 600) =>
      new SignJWT({ iss, aud: "xdskit", exp: Math.floor(Date.now() / 1_000) + seconds, sub })
        .setProtectedHeader({ alg: "ES256", kid })
        .sign(privateKey),
  };
}
