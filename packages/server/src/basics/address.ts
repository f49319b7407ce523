/** Where something listens: a host and a port. */
export interface Address {
  /** A name or an IP address; an IPv6 address without its brackets. */
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/** A Unix socket: only this machine reaches it, and of this machine whom its file lets in. */
export interface SocketPath {
  readonly path: string;
  /** The permissions of its file, for who listens. Default: 0o600, its owner alone. */
  readonly mode?: number;
}

/** Where something listens, on a port or on a Unix socket. */
export type ListenAddress = Address | SocketPath;

/** Reads `HOST:PORT`, such as `127.0.0.1:18000`, `[::1]:18000` or `localhost:0`; undefined when it is none. */
export function parseAddress(text: string): Address | undefined {
  const parts = /^(?:\[([0-9a-fA-F:.%a-z]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(text);
  if (parts === null) return undefined;
  const host = parts[1] ?? parts[2] ?? "";
  const port = Number(parts[3]);
  if (port > 65535 || (parts[1] !== undefined && !parts[1].includes(":"))) return undefined;
  return { host, port };
}

/** The longest path of a socket, in bytes: longer ones are cut off, and mean another file. */
export const maxSocketPath = 103;

/** The same, and `unix:/PATH` or `unix:/PATH?mode=660`. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, path, mode] = /^unix:(\/[^?\0]+)(?:\?mode=(0?[0-7]{3}))?$/.exec(text) ?? [];
  if (path === undefined) return parseAddress(text);
  if (new TextEncoder().encode(path).byteLength > maxSocketPath) return undefined;
  return mode === undefined ? { path } : { path, mode: Number.parseInt(mode, 8) };
}

/** `HOST:PORT`, an IPv6 address in brackets; or `unix:/PATH`. */
export function formatAddress(at: ListenAddress): string {
  if ("path" in at) return `unix:${at.path}${at.mode === undefined ? "" : `?mode=${at.mode.toString(8)}`}`;
  const { host, port } = at;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The host of a URL, as `connect` takes it: an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Whether only this machine can connect there. A host name does not count: DNS may lead it elsewhere. */
export function isLoopback(host: string): boolean {
  return /^(::ffff:)?127\.\d+\.\d+\.\d+$|^::1$|^(.+\.)?localhost$/i.test(host);
}
