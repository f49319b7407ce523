/** A message in the two parts in which the server has it. */
export interface TwoParts {
  readonly body: Uint8Array;
  readonly tail: Uint8Array;
}

/** Requests stay the bytes that they are. */
export function passBytes(bytes: Buffer): Buffer {
  return bytes;
}

/** One message of two parts. Called when the message is written, not while it waits: what waits shares its body with other streams. */
export function joinParts({ body, tail }: TwoParts): Buffer {
  const joined = Buffer.allocUnsafe(body.byteLength + tail.byteLength);
  joined.set(body);
  joined.set(tail, body.byteLength);
  return joined;
}
