import { canonicalName, globOf, isGlobName, type ResourceName } from "@xdskit/api";

/** The state of a requested name. */
type NameState = "requested" | "current" | "absent" | "rejected";

/** Stands for all of a type. */
export const wildcard: ResourceName = "*";

/** The requested names of one type, in canonical form, and for how long the client has waited for each (rule 166). */
export class WantedNames {
  readonly #names = new Map<ResourceName, NameState>();
  /** The caller's own spelling if that is not the canonical form: hardly any name. */
  readonly #spelled = new Map<ResourceName, ResourceName>();
  /**
   * The time at which a requested name counts as absent. All wait equally long, so the first one in is the first one
   * due.
   */
  readonly #due = new Map<ResourceName, number>();
  #globs = 0;

  get size(): number {
    return this.#names.size;
  }

  get isWildcard(): boolean {
    return this.#names.has(wildcard);
  }

  has(key: ResourceName): boolean {
    return this.#names.has(key);
  }

  keys(): Iterable<ResourceName> {
    return this.#names.keys();
  }

  /** The names as they were asked for, without the wildcard. */
  asked(): readonly ResourceName[] {
    return Array.from(this.#names.keys(), (key) => this.spelled(key)).filter((name) => name !== wildcard);
  }

  /** A name as it was asked for. */
  spelled(key: ResourceName): ResourceName {
    return this.#spelled.get(key) ?? key;
  }

  /** False if it was wanted before. */
  add(name: ResourceName, state: NameState): boolean {
    const key = canonicalName(name);
    if (this.#names.has(key)) return false;
    this.#names.set(key, state);
    if (name !== key) this.#spelled.set(key, name);
    if (isGlobName(key)) this.#globs++;
    return true;
  }

  /** False if it was not wanted. */
  delete(key: ResourceName): boolean {
    this.#due.delete(key);
    this.#spelled.delete(key);
    if (!this.#names.delete(key)) return false;
    if (isGlobName(key)) this.#globs--;
    return true;
  }

  /** Tells whether a resource is wanted: by its name, an alias, a collection that it is in, or the wildcard. */
  covers(key: ResourceName, aliases: readonly ResourceName[]): boolean {
    const names = this.#names;
    if (names.has(wildcard) || names.has(key)) return true;
    if (aliases.some((alias) => names.has(canonicalName(alias)))) return true;
    return this.isInGlob(key);
  }

  isInGlob(key: ResourceName): boolean {
    if (this.#globs === 0) return false;
    const glob = globOf(key);
    return glob !== undefined && this.#names.has(glob);
  }

  stateOf(key: ResourceName): NameState | undefined {
    return this.#names.get(key);
  }

  /**
   * A response said something about a name: the wait is over. False if it is not asked for by this name, or was in this
   * state.
   */
  is(key: ResourceName, state: NameState): boolean {
    const before = this.#names.get(key);
    if (before === undefined) return false;
    this.#due.delete(key);
    if (before === state) return false;
    this.#names.set(key, state);
    return true;
  }

  /** A resource that was rejected on a stream that is gone may no longer exist. */
  requestAgain(key: ResourceName): void {
    if (this.#names.get(key) === "rejected") this.#names.set(key, "requested");
  }

  /** The server said something about it, but nothing final. */
  waitNoMore(key: ResourceName): void {
    this.#due.delete(key);
  }

  /**
   * Waits for a name from now on, unless it is there or known not to exist. The wait for a collection never ends.
   */
  wait(key: ResourceName, due: number): void {
    if (this.#names.get(key) === "requested") this.#wait(key, due);
  }

  /** Waits for a name that is there from elsewhere. */
  waitForCurrent(key: ResourceName, due: number): void {
    if (this.#names.get(key) === "current") this.#wait(key, due);
  }

  #wait(key: ResourceName, due: number): void {
    if (key === wildcard || isGlobName(key)) return;
    this.#due.delete(key);
    this.#due.set(key, due);
  }

  /** The stream is gone: nothing can be concluded from silence. */
  stopWaiting(): void {
    this.#due.clear();
  }

  get nextDue(): number | undefined {
    return this.#due.values().next().value;
  }

  /** Takes the names for which the client has waited long enough. */
  takeDue(now: number): readonly ResourceName[] {
    const over: ResourceName[] = [];
    for (const [key, due] of this.#due) {
      if (due > now) break;
      this.#due.delete(key);
      over.push(key);
    }
    return over;
  }
}
