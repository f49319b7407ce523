/// <reference types="node" preserve="true" />
// For programs that reach servers over their own transport (`@xdskit/client/connecting`): the client's identity and its
// credentials. Loads no gRPC.
import type { ConnectionOptions } from "node:tls";
import { toBinary } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { createTlsReader, explainHandshake, identityOf } from "@xdskit/api/tls-files";
import { type Headers, readToken, refuseTokenInPlaintext } from "./credentials/call-headers.js";
import { hostOf } from "./credentials/host-of.js";
import { clientNode } from "./identity/client-node.js";
import type { GrpcServerSettings, NodeSettings } from "./options/client-options.js";

export { connectWords } from "./errors/connect-words.js";
export type { TlsSettings } from "./options/tls-settings.js";

/** A serialized node, as requests carry it, with the client's features. */
export function encodeNode(node: NodeSettings): Uint8Array {
  return toBinary(NodeSchema, clientNode(node));
}

/** The connection settings of one server. */
export interface Connecting {
  /**
   * For `tls.connect`, with certificates as their files are now; undefined in plaintext. Rejects with an XdskitError
   * (XDSKIT_CREDENTIALS_FILE).
   */
  tls(): Promise<ConnectionOptions | undefined>;
  /** The headers of each stream. Rejects with an XdskitError (XDSKIT_CREDENTIALS_FILE). */
  headers(): Promise<Headers>;
  /** Explains an error of a handshake, and names the setting that is wrong. */
  explain(error: Error): Error;
}

/**
 * Reads no file yet. Throws an XdskitError (XDSKIT_CREDENTIALS) for a certificate without its key, and for a token that
 * would be sent in plaintext.
 */
export function createConnecting(settings: GrpcServerSettings): Connecting {
  const { address, tls, tokenFile } = settings;
  refuseTokenInPlaintext(tokenFile, address, tls !== undefined);
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

/** There was no connection, so TLS is not the cause. */
function isBeforeHandshake(error: NodeJS.ErrnoException): boolean {
  return error.syscall === "connect" || error.syscall === "getaddrinfo" || error instanceof AggregateError;
}
