import type { Clock, ResourceTypes } from "@xdskit/api";
import type { Keepalive } from "@xdskit/grpc-server";
import type { StatusCode } from "@xdskit/protocol";
import { checkAddresses } from "./configuration/option-tables.js";
import type { Events } from "./contracts/events.js";
import type { CallInfo } from "./contracts/nodes/stream-info.js";
import type { PollTransport } from "./contracts/poll-transport.js";
import type { Accept, Transport } from "./contracts/transport.js";
import type { Addresses, Listening } from "./contracts/xds-server.js";
import type { Polls } from "./rest-polls/polls.js";
import type { Services } from "./services/services.js";
import type { ServerLimits } from "./settings/limits.js";
import type { RestOptions } from "./settings/rest-options.js";
import { createCertificates } from "./tls/certificates.js";
import type { Renewable, ServerTls } from "./tls/server-tls.js";
import type { CertificateDates } from "./tls/validity.js";
import { createGrpcTransport, type SocketTransport } from "./transports/grpc/grpc-transport.js";
import { createRestTransport } from "./transports/rest/rest-transport.js";

export interface ListenersContext {
  readonly types: ResourceTypes;
  readonly clock: Clock;
  readonly events: Events;
  readonly limits: ServerLimits;
  readonly keepalive: Keepalive;
  readonly rest: RestOptions;
  readonly tls: ServerTls | undefined;
  readonly accept: Accept;
  readonly services: Services;
  readonly polls: Polls;
  readonly callInfo: (service: string, peer: string) => CallInfo;
  /** Counts and reports a call that never reached the server because of a client's fault. */
  readonly refused: (peer: string, code: StatusCode, message: string) => void;
  /** Throws when the server is closed. */
  readonly refuseIfClosed: () => void;
}

/**
 * The addresses that a server listens on: its own gRPC and REST, with or without TLS, and transports that a program
 * brings.
 */
export function createListeners(context: ListenersContext) {
  const { types, clock, events, limits, keepalive, refused, refuseIfClosed } = context;
  const transports = new Set<Transport | PollTransport>();
  let grpc: SocketTransport | undefined;
  let rest: (PollTransport & Renewable) | undefined;
  const certificates =
    context.tls &&
    createCertificates(context.tls, clock, {
      renewed(contents, notAfter) {
        for (const transport of [grpc, rest]) transport?.renew(contents);
        events.emit("certificates-renewed", () => ({ notAfter }));
      },
      refused: (findings) => events.emit("certificates-refused", () => ({ findings })),
      fixed: () => events.emit("certificates-mended", () => ({})),
      untimely: (validity) => events.emit("certificate-untimely", () => ({ ...validity })),
    });

  /** A fault of the server that ended a connection; the call is not known. */
  function fault(peer: string, error: unknown): void {
    events.emit("fault", () => ({ stream: context.callInfo("HTTP/2", peer), error }));
  }

  function handshakeFailed(peer: string, reason: string): void {
    events.emit("handshake-failed", () => ({ peer, reason }));
  }

  async function listenOn(transport: Transport, address: string): Promise<string> {
    refuseIfClosed();
    transports.add(transport);
    return await transport.listen(address, context.accept, context.services.all);
  }

  async function pollOn(transport: PollTransport, address: string): Promise<string> {
    refuseIfClosed();
    transports.add(transport);
    return await transport.listen(address, context.polls);
  }

  async function listen<Asked extends Addresses>(addresses: Asked): Promise<Listening<Asked>> {
    checkAddresses(addresses);
    const listening: { -readonly [Key in keyof Addresses]: string } = {};
    await certificates?.ready();
    if (addresses.grpc !== undefined) {
      const tls = certificates?.current;
      const { requestBytes } = limits;
      grpc ??= createGrpcTransport({ types, keepalive, requestBytes, limits, fault, refused, tls, handshakeFailed });
      listening.grpc = await listenOn(grpc, addresses.grpc);
    }
    if (addresses.rest !== undefined) {
      // Read now: they may have been renewed while gRPC began to listen, when REST was not there yet.
      const tls = certificates?.current;
      rest ??= createRestTransport({ types, limits, options: context.rest, tls, handshakeFailed });
      listening.rest = await pollOn(rest, addresses.rest);
    }
    return listening as Listening<Asked>;
  }

  return {
    listen,
    listenOn,
    pollOn,
    /** Connections of its own gRPC whose clients were not asked to go. */
    connections: () => grpc?.connections ?? 0,
    /** Asks this many of them to reconnect. Returns how many were asked. */
    askToGo: (count: number) => grpc?.askToGo(count) ?? 0,
    /** From when to when its certificate is valid; undefined without TLS, and before it listens. */
    certificate: (): CertificateDates | undefined => certificates?.dates,
    /** Accepts nothing more, and closes everything: one promise for each transport, which keeps to the time. */
    close(timeoutMs: number): readonly Promise<void>[] {
      certificates?.close();
      return Array.from(transports, (transport) => transport.close(timeoutMs));
    },
  };
}
