import type { ResourceName } from "@xdskit/api";

/** What one request changes in what the server knows to be asked for. */
export interface AskedChange {
  readonly plus: ReadonlySet<ResourceName>;
  readonly minus: ReadonlySet<ResourceName>;
}

/**
 * What the server of one stream was told to be asked for, and what it is to be told, by name in canonical form. Names that nobody wanted for a moment are taken back
 * and asked for anew, since what was held of them is gone and servers send it only to whom they think to lack it (rules 70, 87).
 */
export class AskedNames {
  readonly #told = new Set<ResourceName>();
  #plus = new Set<ResourceName>();
  #minus = new Set<ResourceName>();
  #again = new Set<ResourceName>();
  /** Of those to be told, which are to be taken back with the request behind that. */
  #once = new Set<ResourceName>();

  /** What the last request said. */
  get told(): ReadonlySet<ResourceName> {
    return this.#told;
  }

  get isChanged(): boolean {
    return this.#plus.size > 0 || this.#minus.size > 0 || this.#again.size > 0;
  }

  /** Whether this is wanted, told or not. */
  wants(key: ResourceName): boolean {
    return this.#plus.has(key) || (this.#told.has(key) && !this.#minus.has(key));
  }

  /** Whether the next request would leave nothing that is asked for. */
  get leavesNothing(): boolean {
    if (this.#plus.size > 0) return false;
    for (const key of this.#told) if (!this.#minus.has(key) && !this.#again.has(key)) return false;
    return true;
  }

  /** Whether only this is wanted, and was all the time. */
  wantsOnly(key: ResourceName): boolean {
    const { size } = this.#told;
    return this.wants(key) && this.#again.size === 0 && this.#plus.size + size - this.#minus.size === 1;
  }

  /** A new stream: nobody was told anything. */
  reset(wanted: Iterable<ResourceName>): void {
    this.#told.clear();
    this.#plus = new Set(wanted);
    this.#minus = new Set();
    this.#again = new Set();
    this.#once = new Set();
  }

  add(key: ResourceName): void {
    this.#once.delete(key);
    if (!this.#told.has(key)) this.#plus.add(key);
    else if (this.#minus.delete(key)) this.#again.add(key);
  }

  delete(key: ResourceName): void {
    this.#once.delete(key);
    this.#again.delete(key);
    if (this.#told.has(key)) this.#minus.add(key);
    else this.#plus.delete(key);
  }

  /** Leaves one out of the next request, and asks for it anew with the one behind that. */
  repeat(key: ResourceName): void {
    if (this.#minus.has(key)) return;
    this.#plus.delete(key);
    this.#again.add(key);
  }

  /** Asks by its name for what comes because all is asked for, so that it is sent (rule 97), and takes the name back with the request behind that. */
  once(key: ResourceName): void {
    if (this.#told.has(key) || this.#plus.has(key)) return;
    this.#plus.add(key);
    this.#once.add(key);
  }

  /** What the next request says; then the server counts as told. `only`: nothing is added but this. */
  take(only?: ResourceName): AskedChange {
    const minus = this.#again.size === 0 ? this.#minus : new Set([...this.#minus, ...this.#again]);
    const all = this.#plus;
    const plus = only === undefined ? all : new Set([only]);
    for (const key of minus) this.#told.delete(key);
    for (const key of plus) this.#told.add(key);
    const left = only === undefined ? [] : [...all].filter((key) => key !== only);
    this.#plus = new Set([...left, ...this.#again]);
    this.#minus = this.#once;
    this.#again = new Set();
    this.#once = new Set();
    return { plus, minus };
  }
}
