import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type ChannelCredentials, Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { maxWholeAnswer } from "@xdskit/api";
import {
  type ClientConfig,
  ClientStatusRequestSchema,
  ClientStatusResponseSchema,
} from "@xdskit/api/envoy/service/status/v3/csds";
import type { NodeMatcherSchema } from "@xdskit/api/envoy/type/matcher/v3/node";
import { createTlsReader, type TlsPaths } from "@xdskit/api/tls-files";
import { formatAddress, type ListenAddress } from "../../basics/address.js";
import { matchesGlob } from "../../basics/glob.js";
import { SecureChannel } from "./secure-channel.js";
import { clientStatusServiceName, revisionsFeature, summaryFeature } from "./service-name.js";

export { matchesGlob } from "../../basics/glob.js";
export {
  type NodeRevision,
  nodeStanding,
  type ResourceReport,
  type SourceTrouble,
  type TypeReport,
} from "../../contracts/nodes/node-status.js";
export { readRevisionsEntry, readServerEntry } from "./server-entry.js";
export { readTypeSummary, type TypeSummary } from "./type-summary.js";
export type { ClientConfig };

/** The question of a CSDS client. */
export interface StatusQuestion {
  /** Ids of nodes, exact or with `*` and `?`; none of them is every node. */
  readonly nodes: readonly string[];
  /** The time that the answer may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** The connection to the server. */
export interface StatusClientOptions {
  /**
   * PEM files, read before the first question. `serverName`: the name that the certificate must have, if it is not the
   * host of the address. Default: plaintext.
   */
  readonly tls?: (TlsPaths & { readonly serverName?: string | undefined }) | undefined;
}

/** Why a question was not answered. */
export class StatusError extends Error {
  /** gRPC's status code. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Asks a server, or a client that serves it, for client status (CSDS). */
export interface StatusClient {
  /**
   * Returns the resources of each client, without the contents that the server leaves out. Rejects with a
   * StatusError, or an XdskitError (XDSKIT_CREDENTIALS_FILE).
   */
  ask(question: StatusQuestion): Promise<readonly ClientConfig[]>;
  close(): void;
}

/**
 * Connects at the first question. Throws an XdskitError (XDSKIT_CREDENTIALS) for a certificate without its key.
 *
 * @example
 * ```ts
 * import { createStatusClient } from "@xdskit/server/status-client";
 *
 * const client = createStatusClient({ host: "127.0.0.1", port: 18000 });
 * for (const { node, genericXdsConfigs } of await client.ask({ nodes: [], timeoutMs: 5_000 }))
 *   console.log(node?.id, genericXdsConfigs.length);
 * client.close();
 * ```
 */
export function createStatusClient(address: ListenAddress, { tls }: StatusClientOptions = {}): StatusClient {
  const reader = tls && createTlsReader(tls);
  let connected: Client | undefined;
  let closed = false;

  async function connect(): Promise<Client> {
    let channel: ChannelCredentials = credentials.createInsecure();
    const name = tls?.serverName;
    if (reader !== undefined)
      channel = new SecureChannel(await reader.read(), name ?? ("path" in address ? "localhost" : address.host));
    if (closed) throw new StatusError(status.CANCELLED, "the client is closed");
    connected ??= new Client(formatAddress(address), channel, {
      "grpc.max_receive_message_length": maxWholeAnswer,
      // A server that restarted must be found at the next question, not after two minutes.
      "grpc.max_reconnect_backoff_ms": 1_000,
      "grpc.use_local_subchannel_pool": 1,
      ...(name === undefined ? {} : { "grpc.default_authority": name }),
    });
    return connected;
  }

  async function ask(nodes: readonly string[], deadline: number): Promise<readonly ClientConfig[]> {
    const request = create(ClientStatusRequestSchema, {
      nodeMatchers: nodes.map(nodeMatcher),
      excludeResourceContents: true,
      node: { id: "xdskit", userAgentName: "xdskit", clientFeatures: [summaryFeature, revisionsFeature] },
    });
    const bytes = Buffer.from(toBinary(ClientStatusRequestSchema, request));
    const client = connected ?? (await connect());
    const answer = await fetchStatus(client, bytes, deadline).catch((error: unknown) => {
      // Some servers have only the stream.
      if (error instanceof StatusError && error.code === status.UNIMPLEMENTED)
        return firstOfStream(client, bytes, deadline);
      throw error;
    });
    try {
      return fromBinary(ClientStatusResponseSchema, answer).config;
    } catch {
      throw new StatusError(status.INTERNAL, "the answer is malformed");
    }
  }

  return {
    async ask({ nodes, timeoutMs }: StatusQuestion): Promise<readonly ClientConfig[]> {
      const deadline = Date.now() + timeoutMs;
      const configs = await ask(nodes, deadline).catch((error: unknown) => {
        // gRPC's clients, when they serve CSDS, do not know matchers.
        const isRefused = error instanceof StatusError && error.code === status.INVALID_ARGUMENT;
        if (isRefused && nodes.length > 0) return ask([], deadline);
        throw error;
      });
      if (nodes.length === 0) return configs;
      return configs.filter(
        ({ node }) => node === undefined || nodes.some((pattern) => matchesGlob(pattern, node?.id ?? "")),
      );
    },
    close() {
      closed = true;
      connected?.close();
    },
  };
}

function nodeMatcher(pattern: string): MessageInitShape<typeof NodeMatcherSchema> {
  if (!/[*?]/.test(pattern)) return { nodeId: { matchPattern: { case: "exact", value: pattern } } };
  const regex = pattern.replace(/[^\w*?-]/gu, (character) => `\\x{${character.codePointAt(0)?.toString(16)}}`);
  const value = { regex: `(?s)${regex.replaceAll("*", ".*").replaceAll("?", ".")}` };
  return { nodeId: { matchPattern: { case: "safeRegex", value } } };
}

const asIs = (bytes: Buffer): Buffer => bytes;

function fetchStatus(client: Client, request: Buffer, deadline: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const path = `/${clientStatusServiceName}/FetchClientStatus`;
    client.makeUnaryRequest(path, asIs, asIs, request, { deadline }, (error, answer) => {
      if (error !== null) reject(statusError(error));
      else if (answer === undefined) reject(new StatusError(status.INTERNAL, "the answer is empty"));
      else resolve(answer);
    });
  });
}

function firstOfStream(client: Client, request: Buffer, deadline: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const path = `/${clientStatusServiceName}/StreamClientStatus`;
    const call = client.makeBidiStreamRequest(path, asIs, asIs, { deadline });
    call.on("data", (answer: Buffer) => {
      resolve(answer);
      call.cancel();
    });
    call.on("error", (error: ServiceError) => reject(statusError(error)));
    call.on("end", () => reject(new StatusError(status.UNAVAILABLE, "the stream ended without an answer")));
    call.write(request);
  });
}

function statusError({ code, details }: ServiceError): StatusError {
  return new StatusError(code, details);
}
