import type { ObjectShape } from "./object-shape.js";

/** The type of Secrets that hold a certificate and its key. */
export const tlsSecretType = "kubernetes.io/tls";

/** A certificate of the cluster with its key, in PEM, as base64. */
export interface TlsSecret {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  readonly certificate: string;
  readonly key: string;
  /** Who issued it, as cert-manager adds it; undefined: it is not there. */
  readonly authorities: string | undefined;
}

interface SecretShape extends ObjectShape {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string | undefined>>;
}

/** Reads a Secret, as the API server writes it. Undefined: it is none of a certificate. */
export function readTlsSecret(object: ObjectShape): TlsSecret | undefined {
  const { metadata: { namespace = "", name = "", uid } = {}, type, data = {} } = object as SecretShape;
  const { "tls.crt": certificate = "", "tls.key": key = "", "ca.crt": authorities } = data;
  return type === tlsSecretType ? { namespace, name, uid, certificate, key, authorities } : undefined;
}
