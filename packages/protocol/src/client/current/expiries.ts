/** Something that ends at some time. */
export interface Expiring {
  /** Undefined means never. */
  expires: number | undefined;
}

interface Expiry<Item> {
  readonly due: number;
  readonly item: Item;
}

/**
 * Finds the item that ends first: a heap with one valid entry for each item. If an end was put off, its entry is put
 * back when its turn comes, so heartbeats cost nothing here. An invalid entry stays until its turn comes, or until half
 * of all are invalid.
 */
export class Expiries<Item extends Expiring> {
  readonly #heap: Expiry<Item>[] = [];
  /** The entry that counts. */
  readonly #inside = new Map<Item, Expiry<Item>>();
  #dropped = 0;

  /** It ends at this time, and not as before. */
  set(item: Item, expires: number): void {
    item.expires = expires;
    const before = this.#inside.get(item);
    if (before !== undefined && before.due <= expires) return;
    this.#enter({ due: expires, item });
    // A TTL was made shorter.
    if (before !== undefined) this.#drop();
  }

  /** It ends no more. */
  drop(item: Item): void {
    item.expires = undefined;
    if (this.#inside.delete(item)) this.#drop();
  }

  /** Before this nothing ends. */
  get next(): number | undefined {
    return this.#heap[0]?.due;
  }

  /** Takes the items that have ended by now. */
  take(now: number): readonly Item[] {
    const ended: Item[] = [];
    for (let top = this.#heap[0]; top !== undefined && top.due <= now; top = this.#heap[0]) {
      this.#pop();
      const { item } = top;
      if (this.#inside.get(item) !== top) this.#dropped--;
      else if (item.expires === undefined) this.#inside.delete(item);
      else if (item.expires > now) this.#enter({ due: item.expires, item });
      else {
        this.#inside.delete(item);
        ended.push(item);
      }
    }
    return ended;
  }

  #enter(entry: Expiry<Item>): void {
    this.#inside.set(entry.item, entry);
    this.#push(entry);
  }

  #drop(): void {
    this.#dropped++;
    if (this.#dropped * 2 > this.#heap.length) this.#rebuild();
  }

  #push(entry: Expiry<Item>): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || parent.due <= entry.due) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    while (true) {
      const left = at * 2 + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      if (a === undefined) break;
      const isRight = b !== undefined && b.due < a.due;
      const least = isRight ? b : a;
      if (least.due >= last.due) break;
      heap[at] = least;
      at = isRight ? left + 1 : left;
    }
    heap[at] = last;
  }

  #rebuild(): void {
    const all = this.#heap.splice(0);
    this.#dropped = 0;
    for (const entry of all) if (this.#inside.get(entry.item) === entry) this.#push(entry);
  }
}
