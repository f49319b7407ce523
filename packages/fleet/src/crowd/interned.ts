/** Keeps one object for each key, as long as it is referenced elsewhere. */
export class Interned<Item extends object> {
  readonly #items = new Map<string, WeakRef<Item>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    // Another object may have taken its place.
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
