import type { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { unixUserOf } from "./unix-user.js";

/** The other end of a connection. */
export interface Peer {
  /** The IP address; an IPv4 address on an IPv6 socket as IPv4. */
  readonly host: string;
  readonly port: number;
  /** Address and port as text, such as `127.0.0.1:51234` or `[::1]:51234`; `unix` over a Unix socket. */
  readonly text: string;
  /** Whether the connection came over a Unix socket. */
  readonly isUnix: boolean;
  /** The number of the user who connected over a Unix socket, if users are known (`knowUnixUsers`). */
  user(): number | undefined;
  /**
   * The certificate that the client showed, and that was verified; undefined without one, or in plaintext. Read once,
   * when it is first asked for.
   */
  certificate(): X509Certificate | undefined;
  /** When that certificate ends, in milliseconds since 1970. */
  certificateEnds(): number | undefined;
  /** The client's identity by its certificate; undefined without one. Read once, when it is first asked for. */
  identity(): PeerIdentity | undefined;
}

/** The facts about its owner in a verified certificate. None of them is secret. */
export interface PeerIdentity {
  /** `CN=edge-1, O=shop`; empty if it has none. */
  readonly subject: string;
  /** The alternative names: `DNS:edge-1.shop`, `URI:spiffe://shop/edge`, `IP Address:10.0.0.1`. */
  readonly names: readonly string[];
  /** When it ends, in milliseconds since 1970. */
  readonly validTo: number;
}

/** The peer of a socket, with the address `unknown` if it is closed. `isUnix`: its server listens on a Unix socket. */
export function peerOf(socket: Socket, isUnix = false): Peer {
  return new SocketPeer(socket, isUnix);
}

/** A class: each connection of a fleet keeps one, and shares its functions. */
class SocketPeer implements Peer {
  readonly host: string;
  readonly port: number;
  readonly text: string;
  readonly isUnix: boolean;
  readonly #socket: Socket;
  #identity: PeerIdentity | undefined;
  #certificate: X509Certificate | undefined;

  constructor(socket: Socket, isUnix: boolean) {
    const { remoteAddress, remotePort: port = 0 } = socket;
    const host = plainHost(remoteAddress);
    this.host = host;
    this.port = port;
    this.text = isUnix ? "unix" : host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    this.isUnix = isUnix;
    this.#socket = socket;
  }

  user(): number | undefined {
    return this.isUnix ? unixUserOf(this.#socket) : undefined;
  }

  certificate(): X509Certificate | undefined {
    if (distrusted.has(this.#socket)) return undefined;
    this.#certificate ??= certificateOf(this.#socket);
    return this.#certificate;
  }

  certificateEnds(): number | undefined {
    const shown = this.certificate();
    return shown && Date.parse(shown.validTo);
  }

  identity(): PeerIdentity | undefined {
    this.#identity ??= identityOf(this.certificate());
    return this.#identity;
  }
}

const distrusted = new WeakSet<Socket>();

/** The certificate that was shown on a connection counts no more. */
export function distrust(socket: Socket): void {
  distrusted.add(socket);
}

/** As TLS has read it: to read its bytes again would cost more than the rest of a caller's judgement. */
function certificateOf(socket: Socket): X509Certificate | undefined {
  return socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
}

/** More names are not kept, and none that is longer: a certificate may have any number. */
const maxNames = 50;
const maxLength = 300;

function identityOf(certificate: X509Certificate | undefined): PeerIdentity | undefined {
  if (certificate === undefined) return undefined;
  const { subject, subjectaltname = "", valid_to } = certificate.toLegacyObject();
  const parts = Object.entries(subject ?? {}).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}=${String(one)}`),
  );
  // Node puts names with commas into quotes (CVE-2021-44532).
  const names = subjectaltname.match(/[^,"]*"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
  return {
    subject: parts.reverse().join(", ").slice(0, maxLength),
    names: names.slice(0, maxNames).map((name) => name.trim().slice(0, maxLength)),
    validTo: Date.parse(valid_to),
  };
}

/** IPv4 addresses on an IPv6 socket are written as IPv6. */
function plainHost(address = "unknown"): string {
  return address.replace(/^::ffff:(?=\d+\.)/, "");
}
