import { CallCredentials, ChannelCredentials } from "@grpc/grpc-js";
import { shakeHands, type TlsFiles } from "@xdskit/api/tls-files";

type SecureConnector = ReturnType<ChannelCredentials["_createSecureConnector"]>;

/**
 * TLS to a server with a name or an IP address. gRPC's own credentials pass IP addresses as server names, which TLS
 * does not allow, and report errors in OpenSSL's words.
 */
export class SecureChannel extends ChannelCredentials {
  readonly #files: TlsFiles;
  readonly #server: string;

  constructor(files: TlsFiles, server: string) {
    super();
    this.#files = files;
    this.#server = server;
  }

  _isSecure(): boolean {
    return true;
  }

  _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  _createSecureConnector(_target: unknown, _options: unknown, callCredentials?: CallCredentials): SecureConnector {
    const handshake = { context: this.#files.context, server: this.#server, stale: undefined };
    return {
      waitForReady: () => Promise.resolve(),
      connect: async (socket) => ({ socket: await shakeHands(socket, handshake), secure: true }),
      getCallCredentials: () => callCredentials ?? CallCredentials.createEmpty(),
      destroy() {},
    };
  }
}
