import type { Turn } from "@xdskit/api/disk";

/**
 * Changes on disk since the last look, as far as events reported them. They only save work: a scan decides by the
 * files' metadata.
 */
export class ChangesOnDisk {
  #everything: boolean;
  readonly #names = new Map<string, Set<string> | "all">();

  constructor(everything = false) {
    this.#everything = everything;
  }

  get any(): boolean {
    return this.#everything || this.#names.size > 0;
  }

  /** Whether nothing that was known before may be trusted. */
  get everything(): boolean {
    return this.#everything;
  }

  addEverything(): void {
    this.#everything = true;
  }

  /** Records an event for a name in a folder; undefined if the name is not known. */
  add(directory: string, name: string | undefined): void {
    const names = this.#names.get(directory);
    if (names === "all") return;
    if (name === undefined) this.#names.set(directory, "all");
    else if (names === undefined) this.#names.set(directory, new Set([name]));
    else names.add(name);
  }

  merge(other: ChangesOnDisk): void {
    if (other.#everything) this.#everything = true;
    for (const [directory, names] of other.#names) {
      if (names === "all") this.add(directory, undefined);
      else for (const name of names) this.add(directory, name);
    }
  }

  /** Whether anything happened in this folder. */
  in(directory: string): boolean {
    return this.#everything || this.#names.has(directory);
  }

  /** The names in this folder with events; undefined if they are not known. */
  namesIn(directory: string): ReadonlySet<string> | undefined {
    const names = this.#everything ? undefined : this.#names.get(directory);
    return names === "all" ? undefined : names;
  }

  /** Whether something happened to this name. */
  has({ directory, name }: Turn): boolean {
    if (this.#everything) return true;
    const names = this.#names.get(directory);
    return names === "all" || names?.has(name) === true;
  }
}
