// For who speaks to servers over a transport of its own (`@xdskit/client/connecting`): what the client says of itself and how it proves who it is. Loads no gRPC.
import type { ConnectionOptions } from "node:tls";
import { toBinary } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { createTlsReader, explainHandshake, identityOf } from "@xdskit/api/tls-files";
import { clientNode } from "./client-node.js";
import type { GrpcServerSettings, NodeSettings } from "./client-options.js";
import { type Headers, readToken, refuseTokenInPlaintext } from "./credentials/call-headers.js";
import { hostOf } from "./credentials/host-of.js";

export { connectWords } from "./connect-words.js";

/** A node as its requests carry it: serialized, with what the client can do. */
export function encodeNode(node: NodeSettings): Uint8Array {
  return toBinary(NodeSchema, clientNode(node));
}

/** How one server is reached. */
export interface Connecting {
  /** For `tls.connect`, with certificates as their files are now; undefined in plaintext. Rejects with an XdskitError (XDSKIT_CREDENTIALS_FILE). */
  tls(): Promise<ConnectionOptions | undefined>;
  /** What each stream carries. Rejects with an XdskitError (XDSKIT_CREDENTIALS_FILE). */
  headers(): Promise<Headers>;
  /** An error of a handshake, in words that say which setting it is about. */
  explain(error: Error): Error;
}

/** Reads no file yet. Throws an XdskitError (XDSKIT_CREDENTIALS) for a certificate without its key, and for a token that would be sent in plaintext. */
export function createConnecting(settings: GrpcServerSettings): Connecting {
  refuseTokenInPlaintext(settings);
  const { address, tls, tokenFile } = settings;
  const reader = tls === undefined ? undefined : createTlsReader(tls);
  const name = tls?.serverName ?? hostOf(address);
  return {
    async tls() {
      if (reader === undefined) return undefined;
      const { context } = await reader.read();
      return { secureContext: context, ALPNProtocols: ["h2"], ...identityOf(name) };
    },
    async headers() {
      const headers: Headers = tokenFile === undefined ? {} : { authorization: await readToken(tokenFile) };
      return headers;
    },
    explain: (error) =>
      reader === undefined || isBeforeHandshake(error) ? error : explainHandshake(error, name, reader.problem),
  };
}

/** No connection was made, and so TLS has no part in it. */
function isBeforeHandshake(error: NodeJS.ErrnoException): boolean {
  return error.syscall === "connect" || error.syscall === "getaddrinfo" || error instanceof AggregateError;
}
