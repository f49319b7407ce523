import { readFile } from "node:fs/promises";
import type { ServerTls } from "@xdskit/server";

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
export async function readReplicaTls({ certificateFile, keyFile, clientCaFile }: ServerTls): Promise<ReplicaTls> {
  const ca = clientCaFile === undefined ? undefined : readFile(clientCaFile);
  const [cert, key] = await Promise.all([readFile(certificateFile), readFile(keyFile)]);
  return { cert, key, ca: await ca };
}
