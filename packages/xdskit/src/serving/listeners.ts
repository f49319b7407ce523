import type { XdskitError } from "@xdskit/api";
import { type Addresses, listenError, type XdsServer } from "@xdskit/server";
import { type Address, formatAddress, parseAddress } from "@xdskit/server/address";
import { type AdminServer, startAdminServer } from "../admin/admin-server.js";
import type { AdminState } from "../admin/admin-state.js";
import type { Log } from "../output/log.js";
import type { Terminal } from "../output/terminal.js";
import { isAddressError, type Running } from "./run-serving.js";
import type { ServingOptions } from "./serving-options.js";

/** The open ports, with the numbers that were picked. */
export interface OpenListeners {
  readonly grpc: Address;
  readonly rest: Address | undefined;
  readonly admin: Address;
}

/** Opens the admin port; rejects with an XdskitError that names the option. */
export function openAdmin(address: Address, state: AdminState): Promise<AdminServer> {
  return startAdminServer(address, state).catch((cause) => {
    throw cannotListen("--admin", address, cause);
  });
}

/**
 * Prints the address of the admin pages, once: before the other listeners if these must wait, since the pages say why.
 */
export function announceAdmin(running: Running, terminal: Terminal): void {
  if (running.admin === undefined || running.adminAnnounced) return;
  running.adminAnnounced = true;
  announce(terminal, "admin", running.admin.address);
}

function announce(terminal: Terminal, name: string, address: Address): void {
  terminal.out(`${name} listening on ${formatAddress(address)}\n`);
}

/**
 * Opens the ports for clients and prints a line for each. Call it only when the configuration is complete. Undefined if
 * the command is stopping meanwhile.
 */
export async function openListeners(
  running: Running,
  server: XdsServer,
  admin: AdminServer,
  options: Pick<ServingOptions, "grpc" | "rest">,
  { terminal, log, isSecured }: { readonly terminal: Terminal; readonly log: Log; readonly isSecured: boolean },
): Promise<OpenListeners | undefined> {
  const grpc = await listen(server, "grpc", options.grpc);
  const rest = options.rest && (await listen(server, "rest", options.rest));
  if (running.readiness === "stopping") return undefined;
  if (!isSecured) warnOfPlaintext(log, { grpc, rest });
  warnOfOpenAdmin(log, admin.address);
  announce(terminal, "grpc", grpc);
  if (rest !== undefined) announce(terminal, "rest", rest);
  announceAdmin(running, terminal);
  return { grpc, rest, admin: admin.address };
}

/** Everybody who reaches such a port can get every private key that is served to anybody. */
function warnOfPlaintext(log: Log, listeners: Readonly<Record<string, Address | undefined>>): void {
  for (const [name, address] of Object.entries(listeners)) {
    if (address === undefined || isLoopback(address.host)) continue;
    log.warn(
      { address: formatAddress(address) },
      `WARNING: ${name} listens beyond this machine without TLS: whoever reaches ${formatAddress(address)} can read all resources, private keys included. Set tls in the settings, or listen on 127.0.0.1 (docs/serve.md#tls)`,
    );
  }
}

/** The admin pages have neither TLS nor passwords. */
function warnOfOpenAdmin(log: Log, address: Address): void {
  if (isLoopback(address.host)) return;
  log.warn(
    { address: formatAddress(address) },
    `WARNING: admin listens beyond this machine: whoever reaches ${formatAddress(address)} can read what every client has, and stop or promote rollouts. Listen on 127.0.0.1, or in a network of your own (docs/serve.md#admin-pages)`,
  );
}

/** Whether only this machine can connect there. A host name does not count: DNS may lead it elsewhere. */
export function isLoopback(host: string): boolean {
  return /^(::ffff:)?127\.\d+\.\d+\.\d+$|^::1$|^(.+\.)?localhost$/i.test(host);
}

async function listen(server: XdsServer, transport: "grpc" | "rest", address: Address): Promise<Address> {
  const listening: Addresses = await server.listen({ [transport]: formatAddress(address) }).catch((error) => {
    throw isAddressError(error) ? cannotListen(`--${transport}`, address, error.cause) : error;
  });
  return parseAddress(listening[transport] ?? "") ?? address;
}

function cannotListen(option: string, address: Address, cause: unknown): XdskitError {
  return listenError(`${formatAddress(address)} (${option})`, cause as Error);
}
