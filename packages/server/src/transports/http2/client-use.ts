/** What connections may use, alone, with all others from their address, and in all. */
export interface UseLimits {
  readonly streamsPerAddress: number;
  /** Bytes held of requests of which the rest has not come. */
  readonly partialRequestBytes: number;
  readonly partialRequestBytesPerAddress: number;
  readonly partialRequestBytesPerConnection: number;
}

/** What those who share something use of it. */
interface Use {
  streams: number;
  held: number;
}

/** What one connection uses. Who is told why there is no more must not use it. */
export interface ConnectionUse {
  /** One stream more; says why it must not be, if so. In any case `closeStream` follows. */
  openStream(): string | undefined;
  closeStream(): void;
  /** So many bytes more are held, or less; says why that is too much, if so. */
  hold(bytes: number): string | undefined;
  /** The connection is gone, with all its streams. */
  end(): void;
}

/** Counts what connections use, so that none takes the place of all others, and no address. `requestBytes`: as large as one request may be, it must have room. */
export function createClientUse(given: UseLimits, requestBytes: number): (address: string) => ConnectionUse {
  const { streamsPerAddress } = given;
  const ofConnection = Math.max(given.partialRequestBytesPerConnection, 2 * requestBytes);
  const ofAddress = Math.max(given.partialRequestBytesPerAddress, ofConnection);
  const inAll = Math.max(given.partialRequestBytes, ofAddress);
  const addresses = new Map<string, Use & { connections: number }>();
  let heldInAll = 0;

  return (address) => {
    const shared = addresses.get(address) ?? { connections: 0, streams: 0, held: 0 };
    addresses.set(address, shared);
    shared.connections += 1;
    let held = 0;
    return {
      openStream() {
        shared.streams += 1;
        if (shared.streams <= streamsPerAddress) return undefined;
        return `${streamsPerAddress} streams are open from one address, and none may have more (limits.streams_per_address)`;
      },
      closeStream() {
        shared.streams -= 1;
      },
      hold(bytes) {
        held += bytes;
        shared.held += bytes;
        heldInAll += bytes;
        if (bytes <= 0) return undefined;
        if (held > ofConnection) return tooMuch("this connection", ofConnection, "_per_connection");
        if (shared.held > ofAddress) return tooMuch("this address", ofAddress, "_per_address");
        if (heldInAll > inAll) return tooMuch("all clients", inAll, "");
        return undefined;
      },
      end() {
        shared.connections -= 1;
        if (shared.connections === 0) addresses.delete(address);
      },
    };
  };
}

function tooMuch(who: string, most: number, setting: string): string {
  return `requests of ${who} of which the rest has not come take more than ${most} bytes (limits.partial_request_bytes${setting})`;
}
