import { type ServerTls, tlsSource } from "@xdskit/server";

/** The certificate of this server, and the authority of those that it trusts. */
export interface ReplicaTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
}

/**
 * The servers of a store show each other the certificate that clients see, and trust the authority that clients'
 * certificates come from. Read again each time, since files are replaced.
 */
export async function readReplicaTls(tls: ServerTls): Promise<ReplicaTls> {
  const { certificate: cert, key, ca } = await tlsSource(tls).read();
  if (cert === undefined || key === undefined) throw new Error("TLS without a certificate");
  return { cert, key, ca };
}
