import type { Random } from "./random.js";

/** A copy of a message with something wrong about it, perhaps: bytes flipped, cut off, doubled or thrown in. */
export function damage(bytes: Uint8Array, random: Random): Uint8Array {
  const out = [...bytes];
  for (let count = 1 + random.int(3); count > 0; count--) {
    const at = random.int(out.length + 1);
    switch (random.int(6)) {
      case 0:
        if (at < out.length) out[at] = random.int(256);
        break;
      case 1:
        if (at < out.length) out[at] = (out[at] ?? 0) ^ (1 << random.int(8));
        break;
      case 2:
        out.length = at;
        break;
      case 3:
        out.splice(at, random.int(4));
        break;
      case 4:
        out.splice(at, 0, ...Array.from({ length: 1 + random.int(4) }, () => random.int(256)));
        break;
      default:
        out.splice(at, 0, ...out.slice(at, at + random.int(12)));
    }
  }
  return Uint8Array.from(out);
}
