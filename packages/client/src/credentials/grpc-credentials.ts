import { CallCredentials, ChannelCredentials, credentials, Metadata } from "@grpc/grpc-js";
import { XdskitError } from "@xdskit/api";
import { createTlsReader, shakeHands, type TlsFiles, type TlsReader } from "@xdskit/api/tls-files";
import type { GrpcServerSettings } from "../options/client-options.js";
import { readToken, refuseTokenInPlaintext } from "./call-headers.js";
import { hostOf } from "./host-of.js";

/** The credentials of connections to a gRPC server, and the headers of each stream. */
export interface GrpcCredentials {
  /** Reads certificates anew for each connection. */
  readonly channel: ChannelCredentials;
  /**
   * The headers of one stream, with the token that its file holds now. Rejects with an XdskitError
   * (XDSKIT_CREDENTIALS_FILE).
   */
  metadata(): Promise<Metadata>;
}

/**
 * TLS, token and headers from the settings of a server. Reads no file yet. Throws an XdskitError (XDSKIT_CREDENTIALS)
 * for a certificate without its key, a token that would be sent in plaintext, and an invalid header.
 */
export function credentialsOf(settings: GrpcServerSettings): GrpcCredentials {
  const { address, tls, headers, tokenFile } = settings;
  refuseTokenInPlaintext(tokenFile, address, tls !== undefined);
  const fixed = metadataOf(headers ?? {});
  const name = tls?.serverName ?? hostOf(address);
  return {
    channel: tls === undefined ? credentials.createInsecure() : new FileCredentials(createTlsReader(tls), name),
    async metadata() {
      const metadata = fixed.clone();
      if (tokenFile !== undefined) metadata.set("authorization", await readToken(tokenFile));
      return metadata;
    },
  };
}

function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) {
    try {
      // gRPC sends bytes in headers with this ending.
      if (name.toLowerCase().endsWith("-bin")) metadata.add(name, Buffer.from(value, "base64"));
      else metadata.add(name, value);
    } catch {
      const message = `${JSON.stringify(name)} is not a header that gRPC can send, or its value is not valid`;
      throw XdskitError.of("XDSKIT_CREDENTIALS", message, { field: "headers" });
    }
  }
  return metadata;
}

type GrpcConnector = ReturnType<ChannelCredentials["_createSecureConnector"]>;

/** TLS from files. The credentials of the gRPC library take contents, which they never read again. */
class FileCredentials extends ChannelCredentials {
  readonly #reader: TlsReader;
  readonly #serverName: string;

  constructor(reader: TlsReader, serverName: string) {
    super();
    this.#reader = reader;
    this.#serverName = serverName;
  }

  _isSecure(): boolean {
    return true;
  }

  _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  _createSecureConnector(_target: unknown, _options: unknown, callCredentials?: CallCredentials): GrpcConnector {
    const reader = this.#reader;
    const serverName = this.#serverName;
    let files: TlsFiles | undefined;
    return {
      // Before each attempt to connect.
      async waitForReady() {
        files = await reader.read();
      },
      async connect(socket) {
        files ??= await reader.read();
        const { context } = files;
        return {
          socket: await shakeHands(socket, { context, server: serverName, stale: reader.problem }),
          secure: true,
        };
      },
      getCallCredentials: () => callCredentials ?? CallCredentials.createEmpty(),
      destroy() {},
    };
  }
}
