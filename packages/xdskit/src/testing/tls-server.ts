import { ServerCredentials } from "@grpc/grpc-js";
import { createAuthority } from "../../../api/src/testing/certificates.js";
import { testFolder } from "./folder.js";
import { deltaResponse, packedCluster } from "./odd-responses.js";
import { type OddServer, oddServer } from "./odd-server.js";

/** A server over mutual TLS that gives the cluster `a`, and the files with which a command is let in. */
export interface TlsServer extends AsyncDisposable {
  readonly server: OddServer;
  /** The options that say whom to trust, and which token to send. */
  readonly trusting: readonly string[];
  /** Those of the client's own certificate. */
  readonly certificate: readonly string[];
  /** What the token is. */
  readonly token: string;
  /** The path of a file beside theirs. */
  at(name: string): string;
}

/** Starts one with an authority of its own; its certificate is for `xds.test`. */
export async function tlsServer(): Promise<TlsServer> {
  const authority = createAuthority("an authority");
  const own = authority.issue("xds.test");
  const client = authority.issue("client.test");
  const token = "S3CR3T";
  const files = { "ca.pem": authority.certificate, "client.pem": client.certificate, "client.key": client.key };
  const folder = await testFolder({ ...files, token: `${token}\n` });
  const at = (name: string) => `${folder.path}/${name}`;
  const pair = { cert_chain: Buffer.from(own.certificate), private_key: Buffer.from(own.key) };
  const credentials = ServerCredentials.createSsl(Buffer.from(authority.certificate), [pair], true);
  const server = await oddServer((stream, index) => {
    if (index === 0) stream.send(deltaResponse("1", [{ name: "a", resource: packedCluster("a") }]));
  }, credentials);
  return {
    server,
    token,
    at,
    trusting: ["--tls-ca", at("ca.pem"), "--tls-server-name", "xds.test", "--token-file", at("token")],
    certificate: ["--tls-cert", at("client.pem"), "--tls-key", at("client.key")],
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
