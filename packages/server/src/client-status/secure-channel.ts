import { CallCredentials, ChannelCredentials } from "@grpc/grpc-js";
import { shakeHands, type TlsFiles } from "@xdskit/api/tls-files";

type SecureConnector = ReturnType<ChannelCredentials["_createSecureConnector"]>;

/** TLS with a server of a name or IP address. The library's own credentials name IP addresses, which TLS does not know, and tell OpenSSL's words. */
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
