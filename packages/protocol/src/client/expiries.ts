/** What has a time at which it ends. */
export interface Expiring {
  /** Undefined: never. May be put off without telling. */
  expires: number | undefined;
}

/**
 * What ends first: a heap of at most one entry for each of what is in it. An entry whose end was put off is put back when its turn comes, so that heartbeats
 * cost nothing here.
 */
export class Expiries<Item extends Expiring> {
  readonly #heap: { due: number; readonly item: Item }[] = [];
  readonly #inside = new Set<Item>();
  #dropped = 0;

  /** To be called when an item gets an end that it had not, or an earlier one. */
  add(item: Item): void {
    const { expires } = item;
    if (expires === undefined) return;
    if (this.#inside.has(item)) {
      // An earlier end is rare: a TTL was made shorter.
      const found = this.#heap.find((entry) => entry.item === item);
      if (found === undefined || found.due <= expires) return;
      found.due = expires;
      this.#rebuild();
      return;
    }
    this.#inside.add(item);
    this.#push({ due: expires, item });
  }

  /** It ends no more. */
  drop(item: Item): void {
    item.expires = undefined;
    if (!this.#inside.delete(item)) return;
    this.#dropped++;
    if (this.#dropped * 2 > this.#heap.length) this.#rebuild();
  }

  /** Before this nothing ends. */
  get next(): number | undefined {
    return this.#heap[0]?.due;
  }

  /** Takes what has ended by now. */
  take(now: number): readonly Item[] {
    const ended: Item[] = [];
    for (let top = this.#heap[0]; top !== undefined && top.due <= now; top = this.#heap[0]) {
      this.#pop();
      const { item } = top;
      if (!this.#inside.has(item)) this.#dropped--;
      else if (item.expires === undefined) this.#inside.delete(item);
      else if (item.expires > now) this.#push({ due: item.expires, item });
      else {
        this.#inside.delete(item);
        ended.push(item);
      }
    }
    return ended;
  }

  #push(entry: { due: number; readonly item: Item }): void {
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
    for (const entry of all) if (this.#inside.has(entry.item)) this.#push(entry);
  }
}
