import type { ResourceTypes } from "@xdskit/api";
import type { StatusCode } from "@xdskit/protocol";
import type { Clock } from "./clock.js";
import type { Events } from "./events.js";
import type { Keepalive } from "./keepalive.js";
import type { ServerLimits } from "./limits.js";
import { checkAddresses } from "./option-tables.js";
import type { PollTransport } from "./poll-transport.js";
import type { Polls } from "./polls/polls.js";
import type { RestOptions } from "./rest-options.js";
import type { Services } from "./services/services.js";
import type { CallInfo } from "./stream-info.js";
import { createCertificates } from "./tls/certificates.js";
import type { Renewable, ServerTls } from "./tls/server-tls.js";
import type { Accept, Transport } from "./transport.js";
import { createGrpcTransport } from "./transports/http2/http2-transport.js";
import { createRestTransport } from "./transports/rest/rest-transport.js";
import type { WorkerPool } from "./workers/worker-pool.js";
import type { Addresses, Listening } from "./xds-server.js";

/** Where a server listens: its own gRPC and REST, over TLS where that is asked for, and transports that a program brings. */
export interface Listeners {
  readonly listen: <Asked extends Addresses>(addresses: Asked) => Promise<Listening<Asked>>;
  readonly listenOn: (transport: Transport, address: string) => Promise<string>;
  readonly pollOn: (transport: PollTransport, address: string) => Promise<string>;
  /** Lets nobody further in, and closes what is open: a promise for each transport, which keeps to the time. */
  close(timeoutMs: number): readonly Promise<void>[];
}

export interface ListenersContext {
  readonly types: ResourceTypes;
  readonly clock: Clock;
  readonly events: Events;
  readonly limits: ServerLimits;
  readonly keepalive: Keepalive;
  readonly rest: RestOptions;
  readonly tls: ServerTls | undefined;
  /** Speaks gRPC in the place of this thread, where there are workers. */
  readonly pool: WorkerPool | undefined;
  readonly accept: Accept;
  readonly services: Services;
  readonly polls: Polls;
  readonly callInfo: (service: string, peer: string) => CallInfo;
  /** Counts, and tells of, a call that did not come to the server for what its client did. */
  readonly refused: (peer: string, code: StatusCode, message: string) => void;
  /** Throws when the server is closed. */
  readonly refuseIfClosed: () => void;
}

export function createListeners(context: ListenersContext): Listeners {
  const { types, clock, events, limits, keepalive, pool, refused, refuseIfClosed } = context;
  const transports = new Set<Transport | PollTransport>();
  let grpc: (Transport & Renewable) | undefined;
  let rest: (PollTransport & Renewable) | undefined;
  const certificates =
    context.tls &&
    createCertificates(context.tls, clock, {
      renewed(contents, notAfter) {
        for (const transport of [grpc, rest]) transport?.renew(contents);
        events.emit(() => ({ kind: "certificates-renewed", notAfter }));
      },
      refused: (findings) => events.emit(() => ({ kind: "certificates-refused", findings })),
      mended: () => events.emit(() => ({ kind: "certificates-mended" })),
      untimely: (validity) => events.emit(() => ({ kind: "certificate-untimely", ...validity })),
    });

  /** A fault of ours that ended a connection: of which of its calls is not known. */
  function fault(peer: string, error: unknown): void {
    events.emit(() => ({ kind: "fault", stream: context.callInfo("HTTP/2", peer), error }));
  }

  function handshakeFailed(peer: string, reason: string): void {
    events.emit(() => ({ kind: "handshake-failed", peer, reason }));
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
      if (tls !== undefined) pool?.renew(tls);
      const { requestBytes } = limits;
      grpc ??=
        pool ?? createGrpcTransport({ types, keepalive, requestBytes, limits, fault, refused, tls, handshakeFailed });
      listening.grpc = await listenOn(grpc, addresses.grpc);
    }
    if (addresses.rest !== undefined) {
      // Those of now: they may have been renewed while gRPC began to listen, and REST, which was not there, did not hear of it.
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
    close(timeoutMs) {
      certificates?.close();
      return Array.from(transports, (transport) => transport.close(timeoutMs));
    },
  };
}
