import { formatAddress, isLoopback, type ListenPlace } from "@xdskit/server/address";
import type { Log } from "../output/log.js";

/** Everybody who reaches such a port can get every private key that is served to anybody. */
export function warnOfPlaintext(log: Log, listeners: Readonly<Record<string, ListenPlace | undefined>>): void {
  for (const [name, address] of Object.entries(listeners)) {
    if (address === undefined || isOfThisMachine(address)) continue;
    log.warn(
      { address: formatAddress(address) },
      `WARNING: ${name} listens beyond this machine without TLS: whoever reaches ${formatAddress(address)} can read all resources, private keys included. Set tls in the settings, or listen on 127.0.0.1 (docs/serve.md#tls)`,
    );
  }
}

/** The admin pages have neither TLS nor passwords. */
export function warnOfOpenAdmin(log: Log, address: ListenPlace): void {
  if (isOfThisMachine(address)) return;
  log.warn(
    { address: formatAddress(address) },
    `WARNING: admin listens beyond this machine: whoever reaches ${formatAddress(address)} can read what every client has, and stop or promote rollouts. Listen on 127.0.0.1, or in a network of your own (docs/serve.md#admin-pages)`,
  );
}

function isOfThisMachine(place: ListenPlace): boolean {
  return "path" in place || isLoopback(place.host);
}
