import { XdskitError } from "@xdskit/api";

/** An address to listen on, taken apart. */
export interface Address {
  /** A name, an IPv4 address, or an IPv6 address in brackets. */
  readonly host: string;
  readonly port: number;
}

/** Reads `HOST:PORT`; throws an XdskitError for anything else. */
export function parseAddress(text: string): Address {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s/]+):(\d{1,5})$/.exec(text);
  const [, host, port] = match ?? [];
  if (host === undefined || Number(port) > 65535) {
    throw XdskitError.of("XDSKIT_ADDRESS_INVALID", `${JSON.stringify(text)} is not an address of the form HOST:PORT`);
  }
  return { host, port: Number(port) };
}

/** The error of a listen that failed, in words. grpc-js tells the cause only within its message. */
export function listenError(address: string, error: Error): XdskitError {
  const code = /\b(EADDRINUSE|EACCES|EADDRNOTAVAIL|ENOTFOUND|EAFNOSUPPORT|EAI_AGAIN|Name resolution failed)\b/.exec(
    error.message,
  )?.[1];
  return XdskitError.of(
    code === "EADDRINUSE" ? "XDSKIT_ADDRESS_IN_USE" : "XDSKIT_ADDRESS_UNAVAILABLE",
    `cannot listen on ${address}: ${causes[code ?? ""] ?? error.message}`,
    {},
    { cause: error },
  );
}

const causes: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use by another program",
  EACCES: "the port needs more rights than this program has",
  EADDRNOTAVAIL: "this machine has no such address",
  EAFNOSUPPORT: "this machine does not support that kind of address",
  ENOTFOUND: "the host name cannot be resolved",
  EAI_AGAIN: "the host name cannot be resolved",
  "Name resolution failed": "the host name cannot be resolved",
};
