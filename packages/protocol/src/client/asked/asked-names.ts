import type { ResourceName } from "@xdskit/api";

/** The change that one request makes to the names that the server knows. */
interface NamesChange {
  readonly plus: ReadonlySet<ResourceName>;
  readonly minus: ReadonlySet<ResourceName>;
}

/**
 * The names that the server of one stream was told, and those that it must be told, by canonical name. A name that was
 * dropped and wanted again is taken back and asked for anew: its resource is gone here, and servers send it only to
 * clients that seem to lack it (rules 70, 87).
 */
export class AskedNames {
  readonly #sent = new Set<ResourceName>();
  #plus: Set<ResourceName>;
  #minus = new Set<ResourceName>();
  #again = new Set<ResourceName>();
  /** Of the names that must be told, those that the next request but one takes back. */
  #once = new Set<ResourceName>();

  /** On a new stream the server was told nothing yet. */
  constructor(wanted: Iterable<ResourceName>) {
    this.#plus = new Set(wanted);
  }

  /** The names in the last request. */
  get sent(): ReadonlySet<ResourceName> {
    return this.#sent;
  }

  get isChanged(): boolean {
    return this.#plus.size > 0 || this.#minus.size > 0 || this.#again.size > 0;
  }

  /** Tells whether a name is wanted, whether or not the server was told. */
  wants(key: ResourceName): boolean {
    return this.#plus.has(key) || (this.#sent.has(key) && !this.#minus.has(key));
  }

  /** Tells whether the next request would leave no names. */
  get leavesNothing(): boolean {
    if (this.#plus.size > 0) return false;
    for (const key of this.#sent) if (!this.#minus.has(key) && !this.#again.has(key)) return false;
    return true;
  }

  /** Tells whether this name is wanted, was all the time, and is the only one. */
  wantsOnly(key: ResourceName): boolean {
    const { size } = this.#sent;
    return this.wants(key) && this.#again.size === 0 && this.#plus.size + size - this.#minus.size === 1;
  }

  add(key: ResourceName): void {
    this.#once.delete(key);
    if (!this.#sent.has(key)) this.#plus.add(key);
    else if (this.#minus.delete(key)) this.#again.add(key);
  }

  delete(key: ResourceName): void {
    this.#once.delete(key);
    this.#again.delete(key);
    if (this.#sent.has(key)) this.#minus.add(key);
    else this.#plus.delete(key);
  }

  /** Leaves a name out of the next request, and asks for it anew with the one after that. */
  repeat(key: ResourceName): void {
    if (this.#minus.has(key)) return;
    this.#plus.delete(key);
    this.#again.add(key);
  }

  /**
   * Asks by name for something that comes with the wildcard, so that it is sent (rule 97). The request after that takes
   * the name back.
   */
  once(key: ResourceName): void {
    if (this.#sent.has(key) || this.#plus.has(key)) return;
    this.#plus.add(key);
    this.#once.add(key);
  }

  /** The next request; from then on the server counts as informed. `only`: add no name but this one. */
  take(only?: ResourceName): NamesChange {
    const minus = this.#again.size === 0 ? this.#minus : new Set([...this.#minus, ...this.#again]);
    const all = this.#plus;
    const plus = only === undefined ? all : new Set([only]);
    for (const key of minus) this.#sent.delete(key);
    for (const key of plus) this.#sent.add(key);
    const left = only === undefined ? [] : [...all].filter((key) => key !== only);
    this.#plus = new Set([...left, ...this.#again]);
    this.#minus = this.#once;
    this.#again = new Set();
    this.#once = new Set();
    return { plus, minus };
  }
}
