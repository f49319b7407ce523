/** Keeps one object of each key, for as long as somebody else has it. */
export class Interned<Item extends object> {
  readonly #items = new Map<string, WeakRef<Item>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    // Another one may have taken its place.
    if (this.#items.get(key)?.deref() === undefined) this.#items.delete(key);
  });

  get(key: string, make: () => Item): Item {
    const known = this.#items.get(key)?.deref();
    if (known !== undefined) return known;
    const made = make();
    this.#items.set(key, new WeakRef(made));
    this.#gone.register(made, key);
    return made;
  }
}
