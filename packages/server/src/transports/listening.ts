import { XdskitError } from "@xdskit/api";
import { type ListenAddress, parseListenAddress } from "../basics/address.js";

/** Reads an address to listen on; throws an XdskitError if it is malformed. */
export function listenAddress(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address !== undefined) return address;
  throw XdskitError.of(
    "XDSKIT_ADDRESS_INVALID",
    `${JSON.stringify(text)} is not an address of the form HOST:PORT or unix:/PATH`,
  );
}

/** The error of a failed listen, in words. The cause is read from its message, wherever the error comes from. */
export function listenError(address: string, error: Error): XdskitError {
  const code = /\b(EADDRINUSE|EACCES|EADDRNOTAVAIL|ENOTFOUND|EAFNOSUPPORT|EAI_AGAIN)\b/.exec(error.message)?.[1];
  return XdskitError.of(
    code === "EADDRINUSE" ? "XDSKIT_ADDRESS_IN_USE" : "XDSKIT_ADDRESS_UNAVAILABLE",
    `cannot listen on ${address}: ${(address.startsWith("unix:") ? causesOfPath : causes)[code ?? ""] ?? error.message}`,
    {},
    { cause: error },
  );
}

const causesOfPath: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there, or the file is no socket",
  EACCES: "the folder needs more rights than this program has",
};

const causes: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use by another program",
  EACCES: "the port needs more rights than this program has",
  EADDRNOTAVAIL: "this machine has no such address",
  EAFNOSUPPORT: "this machine does not support that kind of address",
  ENOTFOUND: "the host name cannot be resolved",
  EAI_AGAIN: "the host name cannot be resolved",
};
