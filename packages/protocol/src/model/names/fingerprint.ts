/**
 * A 64-bit sum of the hashes of a set's members. Equal sets have equal fingerprints, whatever the order of their
 * members, and adding or removing a member costs one hash. Not for secrets: a client that chooses the members can make
 * two of its own sets collide, and harms only itself.
 */
export interface Fingerprint {
  readonly high: number;
  readonly low: number;
}

/** The sum of no members. */
export const emptyFingerprint: Fingerprint = { high: 0, low: 0 };

/** The sum of two sets without a common member. */
export function addFingerprints(a: Fingerprint, b: Fingerprint): Fingerprint {
  const low = (a.low >>> 0) + (b.low >>> 0);
  return { high: (a.high + b.high + (low > 0xffff_ffff ? 1 : 0)) | 0, low: low | 0 };
}

export function subtractFingerprints(a: Fingerprint, b: Fingerprint): Fingerprint {
  const low = (a.low >>> 0) - (b.low >>> 0);
  return { high: (a.high - b.high - (low < 0 ? 1 : 0)) | 0, low: low | 0 };
}

export function equalFingerprints(a: Fingerprint, b: Fingerprint): boolean {
  return a.low === b.low && a.high === b.high;
}

/** A fingerprint that many members are added to, without an object for each sum on the way. */
export class FingerprintSum {
  #high: number;
  #low: number;

  constructor({ high, low }: Fingerprint) {
    this.#high = high;
    this.#low = low;
  }

  get value(): Fingerprint {
    return { high: this.#high, low: this.#low };
  }

  add({ high, low }: Fingerprint): void {
    const sum = (this.#low >>> 0) + (low >>> 0);
    this.#high = (this.#high + high + (sum > 0xffff_ffff ? 1 : 0)) | 0;
    this.#low = sum | 0;
  }

  subtract({ high, low }: Fingerprint): void {
    const rest = (this.#low >>> 0) - (low >>> 0);
    this.#high = (this.#high - high - (rest < 0 ? 1 : 0)) | 0;
    this.#low = rest | 0;
  }
}

/** Sixteen hexadecimal digits. */
export function formatFingerprint({ high, low }: Fingerprint): string {
  return (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
}

/** Reads the output of `formatFingerprint`; undefined for any other text. */
export function readFingerprint(text: string): Fingerprint | undefined {
  if (!/^[0-9a-f]{16}$/.test(text)) return undefined;
  return { high: Number.parseInt(text.slice(0, 8), 16) | 0, low: Number.parseInt(text.slice(8), 16) | 0 };
}

/**
 * Hashes one member: its parts in order, each kept apart from the next. Parts are hashed as UTF-8, so that a member
 * that is still bytes of a request hashes like the same member as strings. One object is used for many members;
 * `finish` resets it.
 */
export class MemberHash {
  #a = seedA;
  #b = seedB;

  string(text: string): this {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) {
        const bytes = encoder.encode(text.slice(index));
        return this.bytes(bytes, 0, bytes.length);
      }
      this.#a = Math.imul(this.#a ^ unit, multiplierA);
      this.#b = Math.imul(this.#b ^ unit, multiplierB);
    }
    return this.#endOfPart();
  }

  /** The bytes from `start` to before `end`. */
  bytes(bytes: Uint8Array, start: number, end: number): this {
    let a = this.#a;
    let b = this.#b;
    for (let index = start; index < end; index++) {
      const byte = bytes[index] as number;
      a = Math.imul(a ^ byte, multiplierA);
      b = Math.imul(b ^ byte, multiplierB);
    }
    this.#a = a;
    this.#b = b;
    return this.#endOfPart();
  }

  finish(): Fingerprint {
    let high = Math.imul(this.#a ^ (this.#a >>> 16), 2246822507) ^ Math.imul(this.#b ^ (this.#b >>> 13), 3266489909);
    const low = Math.imul(this.#b ^ (this.#b >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    high = Math.imul(high ^ (low >>> 16), 668265263);
    this.#a = seedA;
    this.#b = seedB;
    return { high: high | 0, low: low | 0 };
  }

  /** 0xff is no byte of UTF-8, so that ("ab", "c") and ("a", "bc") differ. */
  #endOfPart(): this {
    this.#a = Math.imul(this.#a ^ 0xff, multiplierA);
    this.#b = Math.imul(this.#b ^ 0xff, multiplierB);
    return this;
  }
}

const seedA = 0xdeadbeef | 0;
const seedB = 0x41c6ce57;
const multiplierA = 2654435761;
const multiplierB = 1597334677;
const encoder = new TextEncoder();
const shared = new MemberHash();

/** The fingerprint of one member that is given as strings. */
export function fingerprintOf(...parts: readonly string[]): Fingerprint {
  for (const part of parts) shared.string(part);
  return shared.finish();
}
