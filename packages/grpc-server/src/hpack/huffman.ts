/**
 * The number of bits in the code of each byte (RFC 7541, appendix B). The codes follow from that: shorter ones come
 * first, and codes of one length are in the order of the bytes.
 */
const bitLengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
];

/** The last of the lengths is that of the end of a string, which must not occur in one. */
const endOfString = 256;
const longest = 30;

/** By length: the first code, the number of codes, and the start of their bytes in `symbols`. */
interface CodeLength {
  readonly first: number;
  readonly count: number;
  readonly start: number;
}

const symbols: readonly number[] = [...bitLengths.keys()].sort((a, b) => lengthOf(a) - lengthOf(b) || a - b);
const lengths: readonly CodeLength[] = codeLengths();

function lengthOf(symbol: number): number {
  return bitLengths[symbol] as number;
}

function codeLengths(): CodeLength[] {
  const table: CodeLength[] = [{ first: 0, count: 0, start: 0 }];
  let code = 0;
  let start = 0;
  for (let length = 1; length <= longest; length += 1) {
    code *= 2;
    const count = bitLengths.filter((bits) => bits === length).length;
    table.push({ first: code, count, start });
    code += count;
    start += count;
  }
  return table;
}

/**
 * Reads a string in Huffman's code; undefined if it is malformed. The padding is at most 7 bits of the end's code,
 * all ones (RFC 7541, 5.2).
 */
export function decodeHuffman(bytes: Uint8Array): string | undefined {
  let text = "";
  let code = 0;
  let length = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      code = code * 2 + ((byte >> bit) & 1);
      length += 1;
      if (length > longest) return undefined;
      const { first, count, start } = lengths[length] as CodeLength;
      const index = code - first;
      if (index >= count || index < 0) continue;
      const symbol = symbols[start + index] as number;
      if (symbol === endOfString) return undefined;
      text += String.fromCharCode(symbol);
      code = 0;
      length = 0;
    }
  }
  return length > 7 || code !== 2 ** length - 1 ? undefined : text;
}
