/** The size of gRPC's prefix of a message: whether it is compressed, and its length in four bytes. */
export const prefixBytes = 5;

/** A message as it is sent, uncompressed, behind its prefix. */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(prefixBytes + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, prefixBytes);
  return bytes;
}
