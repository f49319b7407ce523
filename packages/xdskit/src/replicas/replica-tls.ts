import { X509Certificate } from "node:crypto";
import type { IsRevoked } from "@xdskit/grpc-server";
import { certificateNames, type ServerTls, type TlsSource, tlsSource } from "@xdskit/server";

/** The certificate of this server, and whom it trusts. */
export interface ReplicaTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
  /** Whether certificates of another server were revoked. Undefined: no list of revoked ones is given. */
  readonly isRevoked: IsRevoked | undefined;
  /** Says why the server with this certificate is none of the store. Undefined: it is known by the name of its host. */
  readonly checkServerIdentity: ((host: string, peer: { readonly raw?: Buffer }) => Error | undefined) | undefined;
}

/** One for each, which knows what was read before: a certificate that is not valid yet does not replace one that is. */
const sources = new WeakMap<ServerTls, TlsSource>();

/**
 * The servers of a store show each other the certificate that clients see, and trust the authority that clients'
 * certificates come from. Read again each time, since files are replaced. An agent's authority signs for every workload
 * of the trust domain: only the same SPIFFE ID is a server of the store.
 */
export async function readReplicaTls(tls: ServerTls): Promise<ReplicaTls> {
  const source = sources.get(tls) ?? tlsSource(tls);
  sources.set(tls, source);
  const { certificate: cert, key, ca, revocations } = await source.read();
  if (cert === undefined || key === undefined) throw new Error("TLS without a certificate");
  const isRevoked = revocations?.isRevoked;
  if (tls.source === undefined) return { cert, key, ca, isRevoked, checkServerIdentity: undefined };
  const own = spiffeId(cert);
  if (own === undefined)
    throw new Error(`${source.place} has no SPIFFE ID, by which the servers of a store know each other`);
  const checkServerIdentity: ReplicaTls["checkServerIdentity"] = (_, { raw }) =>
    raw !== undefined && spiffeId(raw) === own
      ? undefined
      : new Error(`it has another SPIFFE ID than this server, ${own}`);
  return { cert, key, ca, isRevoked, checkServerIdentity };
}

function spiffeId(certificate: Buffer): string | undefined {
  return certificateNames(new X509Certificate(certificate)).spiffe;
}
