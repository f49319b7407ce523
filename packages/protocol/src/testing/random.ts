/** Chances from a seed: the same seed, the same choices. */
export interface Random {
  /** From 0 up to, not including, `bound`. */
  int(bound: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Each element with the given probability. */
  some<T>(list: Iterable<T>, probability: number): T[];
}

/** Mulberry32: small, fast, and good enough to choose a test's next step. */
export function createRandom(...seed: readonly number[]): Random {
  let state = seed.reduce((mixed, part) => Math.imul(mixed ^ part, 0x9e3779b1) + 0x85ebca6b, 0x243f6a88) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  for (let round = 0; round < 4; round++) next();
  return {
    int: (bound) => Math.floor(next() * bound),
    chance: (probability) => next() < probability,
    pick: (list) => list[Math.floor(next() * list.length)]!,
    some: (list, probability) => [...list].filter(() => next() < probability),
  };
}
