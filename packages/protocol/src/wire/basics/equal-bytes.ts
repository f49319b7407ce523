/** Node's `Buffer.compare`, if there is one: twenty times as fast as a loop. */
type Compare = (target: Uint8Array, targetStart: number, targetEnd: number, start: number, end: number) => number;

const native = (globalThis as { readonly Buffer?: { readonly prototype: { readonly compare: Compare } } }).Buffer
  ?.prototype.compare;

/** Comparing this many bytes takes as long as calling Node for it. */
const few = 100;

/** Tells whether this many bytes are the same in both, from `aStart` and `bStart` on. They must be there. */
export function equalBytes(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): boolean {
  if (native !== undefined && length > few) {
    return native.call(a, b, bStart, bStart + length, aStart, aStart + length) === 0;
  }
  for (let index = 0; index < length; index++) if (a[aStart + index] !== b[bStart + index]) return false;
  return true;
}
