/** The limits of one connection, of all connections of an address, and of all clients. */
export interface UseLimits {
  /**
   * Open streams from one address. Default 50,000: a proxy may stand in front of many clients.
   */
  readonly streamsPerAddress: number;
  /**
   * Bytes of memory for incomplete requests. Default 256 MiB in all, 128 MiB from one address, 32 MiB on one
   * connection, where two of the largest requests always have room.
   */
  readonly partialRequestBytes: number;
  readonly partialRequestBytesPerAddress: number;
  readonly partialRequestBytesPerConnection: number;
}

/** The use of an address by all its connections. */
interface UseOfClient {
  connections: number;
  streams: number;
  retained: number;
}

/** The use of all connections of a server. */
interface UseOfAll {
  readonly limits: UseLimits;
  readonly limitName: (limit: keyof UseLimits) => string;
  readonly addresses: Map<string, UseOfClient>;
  retained: number;
}

/** Counts the use of one connection. A caller that gets a refusal must not use more. */
export class ConnectionUse {
  readonly #all: UseOfAll;
  readonly #address: string;
  readonly #ofAddress: UseOfClient;
  #retained = 0;

  constructor(all: UseOfAll, address: string) {
    this.#all = all;
    this.#address = address;
    this.#ofAddress = getOrInsert(all.addresses, address);
    this.#ofAddress.connections += 1;
  }

  /** Counts one more stream. Returns the reason if it must be refused; `closeStream` follows in any case. */
  openStream(): string | undefined {
    const { limits, limitName } = this.#all;
    this.#ofAddress.streams += 1;
    if (this.#ofAddress.streams <= limits.streamsPerAddress) return undefined;
    return `${limits.streamsPerAddress} streams are open from one address, and none may have more (${limitName("streamsPerAddress")})`;
  }

  closeStream(): void {
    this.#ofAddress.streams -= 1;
  }

  /** Counts bytes that are retained, or released where negative. Returns the reason if that is too much. */
  readonly hold = (bytes: number): string | undefined => {
    const { limits } = this.#all;
    this.#retained += bytes;
    this.#ofAddress.retained += bytes;
    this.#all.retained += bytes;
    if (bytes <= 0) return undefined;
    if (this.#retained > limits.partialRequestBytesPerConnection)
      return this.#tooMuch("this connection", "partialRequestBytesPerConnection");
    if (this.#ofAddress.retained > limits.partialRequestBytesPerAddress)
      return this.#tooMuch("this address", "partialRequestBytesPerAddress");
    if (this.#all.retained > limits.partialRequestBytes) return this.#tooMuch("all clients", "partialRequestBytes");
    return undefined;
  };

  #tooMuch(who: string, limit: keyof UseLimits): string {
    const { limits, limitName } = this.#all;
    return `requests of ${who} of which the rest has not come take more than ${limits[limit]} bytes (${limitName(limit)})`;
  }

  /** The connection is gone, with all its streams. */
  end(): void {
    this.#ofAddress.connections -= 1;
    if (this.#ofAddress.connections === 0) this.#all.addresses.delete(this.#address);
  }
}

/**
 * Counts the use of connections, so that neither one connection nor one address can take everything. `requestBytes` is
 * the largest request: there is always room for two of them.
 */
export function createClientUse(
  given: UseLimits,
  requestBytes: number,
  limitName: UseOfAll["limitName"],
): (address: string) => ConnectionUse {
  const partialRequestBytesPerConnection = Math.max(given.partialRequestBytesPerConnection, 2 * requestBytes);
  const partialRequestBytesPerAddress = Math.max(given.partialRequestBytesPerAddress, partialRequestBytesPerConnection);
  const limits: UseLimits = {
    streamsPerAddress: given.streamsPerAddress,
    partialRequestBytesPerConnection,
    partialRequestBytesPerAddress,
    partialRequestBytes: Math.max(given.partialRequestBytes, partialRequestBytesPerAddress),
  };
  const all: UseOfAll = { limits, limitName, addresses: new Map(), retained: 0 };
  return (address) => new ConnectionUse(all, address);
}

function getOrInsert(addresses: Map<string, UseOfClient>, address: string): UseOfClient {
  const known = addresses.get(address);
  if (known !== undefined) return known;
  const use = { connections: 0, streams: 0, retained: 0 };
  addresses.set(address, use);
  return use;
}
