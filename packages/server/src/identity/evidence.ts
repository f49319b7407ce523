/// <reference types="node" preserve="true" />
import type { X509Certificate } from "node:crypto";
import type { Peer } from "@xdskit/grpc-server";

/** What a connection and a call bring to prove who calls. */
export interface Evidence {
  /** The client's certificate, only if TLS verified it. */
  readonly certificate: X509Certificate | undefined;
  /** The header `authorization`, as it came. It is a secret. */
  readonly authorization: string | undefined;
  /** The IP address of the other end; empty over a Unix socket. */
  readonly address: string;
  readonly isUnix: boolean;
  /** The number of the user who connected over a Unix socket, if that is known. */
  user(): number | undefined;
}

/** What the other end of a connection brings with one call. */
export function evidenceFrom(
  peer: Pick<Peer, "certificate" | "host" | "isUnix" | "user">,
  authorization: string | undefined,
): Evidence {
  const { host, isUnix } = peer;
  return {
    certificate: peer.certificate(),
    authorization,
    address: isUnix ? "" : host,
    isUnix,
    user: () => peer.user(),
  };
}

/** Of a caller that brings nothing. */
export const noEvidence: Evidence = {
  certificate: undefined,
  authorization: undefined,
  address: "",
  isUnix: false,
  user: () => undefined,
};

/** The token in `authorization: Bearer TOKEN`; undefined: there is none, or more than one. */
export function bearerOf({ authorization }: Evidence): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? "")?.[1];
}

/** The evidence of a call without any. */
export const nothingShown = (): Evidence => noEvidence;
