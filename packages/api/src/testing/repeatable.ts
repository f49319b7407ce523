/** Random choices that are the same in every run. */
export interface Repeatable {
  /** From 0 up to, not including, `limit`. */
  below(limit: number): number;
  oneOf<Item>(list: readonly Item[]): Item;
}

/** From the seed in `SEED`, or from this one: the same seed makes the same choices. */
export function createRepeatable(seed = 1): Repeatable {
  let state = Number(process.env.SEED ?? seed);
  const below = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * limit);
  };
  return { below, oneOf: <Item>(list: readonly Item[]) => list[below(list.length)] as Item };
}
