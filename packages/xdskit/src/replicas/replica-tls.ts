import { readFile } from "node:fs/promises";
import type { ServerTls } from "@xdskit/server";

/** The certificate of this server, and the authority of those that it trusts. */
export interface ReplicaTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
}

/**
 * What the servers of a store prove to each other who they are with: the certificate that clients see, and the authority
 * that clients' certificates come from. Read again each time, since files are replaced.
 */
export async function readReplicaTls({ certificateFile, keyFile, clientCaFile }: ServerTls): Promise<ReplicaTls> {
  const ca = clientCaFile === undefined ? undefined : readFile(clientCaFile);
  const [cert, key] = await Promise.all([readFile(certificateFile), readFile(keyFile)]);
  return { cert, key, ca: await ca };
}
