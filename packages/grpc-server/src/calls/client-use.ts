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
interface Use {
  streams: number;
  held: number;
}

/** Counts the use of one connection. A caller that gets a refusal must not use more. */
export type ConnectionUse = ReturnType<ReturnType<typeof createClientUse>>;

/**
 * Counts the use of connections, so that neither one connection nor one address can take everything. `requestBytes` is
 * the largest request: there is always room for two of them.
 */
export function createClientUse(given: UseLimits, requestBytes: number, limitName: (limit: keyof UseLimits) => string) {
  const { streamsPerAddress } = given;
  const ofConnection = Math.max(given.partialRequestBytesPerConnection, 2 * requestBytes);
  const ofAddress = Math.max(given.partialRequestBytesPerAddress, ofConnection);
  const inAll = Math.max(given.partialRequestBytes, ofAddress);
  const addresses = new Map<string, Use & { connections: number }>();
  let heldInAll = 0;

  return (address: string) => {
    const shared = addresses.get(address) ?? { connections: 0, streams: 0, held: 0 };
    addresses.set(address, shared);
    shared.connections += 1;
    let held = 0;
    return {
      /** Counts one more stream. Returns the reason if it must be refused; `closeStream` follows in any case. */
      openStream(): string | undefined {
        shared.streams += 1;
        if (shared.streams <= streamsPerAddress) return undefined;
        return `${streamsPerAddress} streams are open from one address, and none may have more (${limitName("streamsPerAddress")})`;
      },
      closeStream(): void {
        shared.streams -= 1;
      },
      /** Counts bytes that are held, or released where negative. Returns the reason if that is too much. */
      hold(bytes: number): string | undefined {
        held += bytes;
        shared.held += bytes;
        heldInAll += bytes;
        if (bytes <= 0) return undefined;
        if (held > ofConnection)
          return tooMuch("this connection", ofConnection, limitName("partialRequestBytesPerConnection"));
        if (shared.held > ofAddress)
          return tooMuch("this address", ofAddress, limitName("partialRequestBytesPerAddress"));
        if (heldInAll > inAll) return tooMuch("all clients", inAll, limitName("partialRequestBytes"));
        return undefined;
      },
      /** The connection is gone, with all its streams. */
      end(): void {
        shared.connections -= 1;
        if (shared.connections === 0) addresses.delete(address);
      },
    };
  };
}

function tooMuch(who: string, most: number, limit: string): string {
  return `requests of ${who} of which the rest has not come take more than ${most} bytes (${limit})`;
}
