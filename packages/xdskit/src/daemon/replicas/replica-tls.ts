import { X509Certificate } from "node:crypto";
import type { IsRevoked } from "@xdskit/grpc-server";
import {
  certificateNames,
  createRules,
  noEvidence,
  type Rules,
  type ServerTls,
  type TlsSource,
  tlsSource,
  type When,
} from "@xdskit/server";

/** Certificates, and which of those that the authority signed are of servers of the store. */
export interface ReplicaCertificates extends ServerTls {
  /** Default: of an agent's certificates those with the same SPIFFE ID, and of others all. */
  readonly replicas?: When | undefined;
}

/** The certificate of this server, and whom it trusts. */
export interface ReplicaTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
  /** Whether certificates of another server were revoked. Undefined: no list of revoked ones is given. */
  readonly isRevoked: IsRevoked | undefined;
  /** Whether a certificate is one of a server of the store. Undefined: all are, and a host is known by its name. */
  readonly isOfStore: ((certificate: X509Certificate | undefined) => boolean) | undefined;
}

/** One for each, which knows what was read before: a certificate that is not valid yet does not replace one that is. */
const sources = new WeakMap<ReplicaCertificates, TlsSource>();

/**
 * The servers of a store show each other the certificate that clients see, and trust the authority that clients'
 * certificates come from. Read again each time, since files are replaced.
 */
export async function readReplicaTls(tls: ReplicaCertificates): Promise<ReplicaTls> {
  const source = sources.get(tls) ?? tlsSource(tls);
  sources.set(tls, source);
  const { certificate: cert, key, ca, revocations } = await source.read();
  if (cert === undefined || key === undefined) throw new Error("TLS without a certificate");
  // An agent's authority signs for every workload of the trust domain.
  const when = tls.replicas ?? (tls.source === undefined ? undefined : { spiffe: ownId(cert, source.place) });
  return { cert, key, ca, isRevoked: revocations?.isRevoked, isOfStore: when && holds(createRules([when])) };
}

const holds = (rules: Rules) => (certificate: X509Certificate | undefined) =>
  rules.prove({ ...noEvidence, certificate }) !== undefined;

function ownId(cert: Buffer, place: string): string {
  const { spiffe } = certificateNames(new X509Certificate(cert));
  if (spiffe === undefined)
    throw new Error(`${place} has no SPIFFE ID, by which the servers of a store know each other`);
  return spiffe;
}
