import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { type HandshakeFailed, handshakeMs, renewTls } from "@xdskit/grpc-server";
import {
  type CertificatesListener,
  createCertificates,
  followRefused,
  type ServerTls,
  systemClock,
} from "@xdskit/server";

/** The certificates of the admin listener, and who is told of them. */
export interface AdminTls {
  readonly files: ServerTls;
  readonly listener: CertificatesListener;
}

/**
 * Node's server for the admin listener, which follows its certificates as the ports for clients do: new connections get
 * the new ones, and open ones stay. `refused` hear of connections that fail. Rejects with an XdskitError if the
 * certificates cannot be used.
 */
export async function serverWith(
  tls: AdminTls | undefined,
  handle: RequestListener,
  refused: readonly HandshakeFailed[],
): Promise<{ readonly server: Server | TlsServer; stop(): void }> {
  if (tls === undefined) {
    const server = createServer(handle);
    followRefused(server, undefined, refused);
    return { server, stop() {} };
  }
  let server: TlsServer | undefined;
  const { files, listener } = tls;
  const certificates = createCertificates(files, systemClock, {
    ...listener,
    renewed(contents, notAfter) {
      if (server !== undefined) renewTls(server, contents);
      listener.renewed(contents, notAfter);
    },
  });
  await certificates.ready();
  server = createTlsServer({ ...certificates.current, handshakeTimeout: handshakeMs, minVersion: "TLSv1.2" }, handle);
  followRefused(server, certificates.current, refused);
  return { server, stop: () => certificates.close() };
}
