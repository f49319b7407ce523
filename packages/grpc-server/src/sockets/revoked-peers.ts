import { X509Certificate } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DetailedPeerCertificate, TLSSocket, TlsOptions, Server as TlsServer } from "node:tls";
import { distrust, peerOf } from "./peer.js";

/**
 * Says whether one of the certificates that a client showed was revoked. `serials`: of all of them, its own first.
 * `chain`: they themselves, which costs more.
 */
export type IsRevoked = (serials: readonly string[], chain: () => readonly X509Certificate[]) => boolean;

/** The options of a TLS server whose clients' certificates may be revoked. */
export interface RevocableTls extends TlsOptions {
  /** Default: none is. */
  readonly isRevoked?: IsRevoked | undefined;
}

/** Open connections that end together do so at times of their own, each of them in this many milliseconds or less. */
const spreadMs = 60_000;

/** Where fewer end, they take no longer than this for each, in milliseconds: one ends at once. */
const eachMs = 12;

/** Others have a turn after this many milliseconds. */
const sliceMs = 5;

const reason = "its certificate was revoked";

/** A chain is no longer. */
const maxChain = 20;

const followed = new WeakMap<TlsServer, (isRevoked: IsRevoked | undefined) => void>();

/**
 * Ends connections with revoked certificates from now on: new ones once their handshake is done, as Node does with
 * certificates that it does not trust. Before the server listens. `told`: called for each.
 */
export function followRevoked(
  server: TlsServer,
  { isRevoked }: RevocableTls,
  report?: (peer: string, reason: string) => void,
): void {
  if (isRevoked === undefined) return;
  let known: IsRevoked | undefined = isRevoked;
  const serialsOf = new Map<TLSSocket, readonly string[]>();
  const isOut = (socket: TLSSocket, serials: readonly string[]) =>
    known?.(serials, () => chainOf(socket).map(({ raw }) => new X509Certificate(raw))) === true;
  function end(socket: TLSSocket): void {
    if (!socket.destroyed) report?.(peerOf(socket).text, reason);
    socket.destroy();
  }
  server.prependListener("secureConnection", (socket) => {
    const serials = chainOf(socket).map(({ serialNumber }) => serialNumber);
    if (serials.length === 0) return;
    if (isOut(socket, serials)) {
      end(socket);
      return;
    }
    serialsOf.set(socket, serials);
    socket.once("close", () => serialsOf.delete(socket));
  });
  /** Judges the open connections, in slices: each that is listed costs half a millisecond. */
  async function judge(next: IsRevoked | undefined): Promise<void> {
    const out: TLSSocket[] = [];
    let began = performance.now();
    try {
      for (const [socket, serials] of serialsOf) {
        if (performance.now() - began >= sliceMs) {
          await nextTurn();
          // A newer list is about all that are left.
          if (known !== next) break;
          began = performance.now();
        }
        if (!isOut(socket, serials)) continue;
        serialsOf.delete(socket);
        // Until it ends, what it asks anew is not answered.
        distrust(socket);
        out.push(socket);
      }
    } finally {
      for (const socket of out)
        setTimeout(() => end(socket), Math.random() * Math.min(spreadMs, eachMs * out.length)).unref();
    }
  }
  followed.set(server, (next) => {
    if (known === next) return;
    known = next;
    void judge(next);
  });
}

/** New connections use these certificates; open ones stay, unless they were revoked. */
export function renewTls(server: TlsServer, tls: RevocableTls): void {
  server.setSecureContext(tls);
  followed.get(server)?.(tls.isRevoked);
}

function chainOf(socket: TLSSocket): readonly DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = [];
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (next?.raw !== undefined && chain.length < maxChain && !chain.includes(next)) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}
