import { canonicalName, globOf, isGlobName, type ResourceName } from "@xdskit/api";

/** How far a name is that somebody asks for. */
export type NameState = "requested" | "held" | "absent" | "rejected";

/** Stands for all of a type. */
export const wildcard: ResourceName = "*";

/** What is asked for of one type, by name in canonical form, and for how long it has been waited for (rule 166). */
export class WantedNames {
  readonly #names = new Map<ResourceName, NameState>();
  /** As whoever asks for it spells it, where that is not the canonical form: hardly any name. */
  readonly #spelled = new Map<ResourceName, ResourceName>();
  /** When a name that was asked for counts as absent. All wait equally long, so that the first one in is the first one due. */
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

  /** A name as it was asked for. */
  spelled(key: ResourceName): ResourceName {
    return this.#spelled.get(key) ?? key;
  }

  /** False where it was wanted before. */
  add(name: ResourceName, state: NameState): boolean {
    const key = canonicalName(name);
    if (this.#names.has(key)) return false;
    this.#names.set(key, state);
    if (name !== key) this.#spelled.set(key, name);
    if (isGlobName(key)) this.#globs++;
    return true;
  }

  /** False where it was not wanted. */
  delete(key: ResourceName): boolean {
    this.#due.delete(key);
    this.#spelled.delete(key);
    if (!this.#names.delete(key)) return false;
    if (isGlobName(key)) this.#globs--;
    return true;
  }

  /** Whether a resource is among what is asked for: by its name, an alias, as a member of a collection, or because everything is. */
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

  /** Something was said about a name: nobody waits for it any longer. False where it is not asked for by this name, or was in this state. */
  is(key: ResourceName, state: NameState): boolean {
    const before = this.#names.get(key);
    if (before === undefined) return false;
    this.#due.delete(key);
    if (before === state) return false;
    this.#names.set(key, state);
    return true;
  }

  /** What was rejected on a stream that is gone may be there no more. */
  requestAgain(key: ResourceName): void {
    if (this.#names.get(key) === "rejected") this.#names.set(key, "requested");
  }

  /** The server was heard about it, and says nothing final. */
  waitNoMore(key: ResourceName): void {
    this.#due.delete(key);
  }

  /** It is waited for from now on, unless it is there, or known not to be. Collections have no end, and are waited for without one. */
  wait(key: ResourceName, due: number): void {
    if (this.#names.get(key) !== "requested" || key === wildcard || isGlobName(key)) return;
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

  /** Takes those for which was waited long enough. */
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
