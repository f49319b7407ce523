/** Where something listens: a host and a port. */
export interface Address {
  /** A name or an IP address; an IPv6 address without its brackets. */
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/** Reads `HOST:PORT`, such as `127.0.0.1:18000`, `[::1]:18000` or `localhost:0`; undefined when it is none. */
export function parseAddress(text: string): Address | undefined {
  const parts = /^(?:\[([0-9a-fA-F:.%a-z]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(text);
  if (parts === null) return undefined;
  const host = parts[1] ?? parts[2] ?? "";
  const port = Number(parts[3]);
  if (port > 65535 || (parts[1] !== undefined && !parts[1].includes(":"))) return undefined;
  return { host, port };
}

/** `HOST:PORT`, an IPv6 address in brackets. */
export function formatAddress({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
