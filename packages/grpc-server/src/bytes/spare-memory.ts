/** Pieces are multiples of this many bytes, so that messages of about the same length can use the same piece. */
const stepBytes = 4 * 1024;
/** Shorter pieces are not kept, since they cost little, and neither are longer ones. */
const [fewestBytes, maxBytesOfPiece] = [16 * 1024, 256 * 1024];
/** At most this many bytes are kept. */
const maxBytes = 1024 * 1024;

const pieces: Buffer[] = [];
let bytes = 0;

/**
 * Memory of at least this length, with any content. Memory that was given back is used again: new memory of this size
 * must be fetched from the kernel page by page, and counts as garbage. A fleet that comes back sends thousands of
 * messages that come in several reads, and nearly all of them are whole before the next one begins.
 */
export function takeMemory(length: number): Buffer {
  if (length < fewestBytes || length > maxBytesOfPiece) return Buffer.allocUnsafe(length);
  const size = Math.ceil(length / stepBytes) * stepBytes;
  const at = pieces.findLastIndex((piece) => piece.length === size);
  if (at < 0) return Buffer.allocUnsafeSlow(size);
  bytes -= size;
  return pieces.splice(at, 1)[0] as Buffer;
}

/** Gives back memory from `takeMemory`, which nobody may use any more. */
export function giveMemory(piece: Buffer): void {
  if (piece.length < fewestBytes || piece.length > maxBytesOfPiece) return;
  pieces.push(piece);
  bytes += piece.length;
  // The pieces that were not asked for lately go first.
  while (bytes > maxBytes) bytes -= pieces.shift()?.length ?? 0;
}
