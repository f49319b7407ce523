import { canonicalName, type ResourceName } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";

/** The resources of one type, by name and alias. Names are canonical. */
export class CachedResources {
  readonly byName = new Map<ResourceName, ReceivedResource>();
  /** Alias → name. */
  readonly #byAlias = new Map<ResourceName, ResourceName>();

  /** Finds a resource by its name or an alias. */
  find(name: ResourceName): ReceivedResource | undefined {
    return this.byName.get(name) ?? this.byName.get(this.#byAlias.get(name) ?? name);
  }

  put(resource: ReceivedResource): void {
    const name = canonicalName(resource.name);
    this.#forgetAliases(name);
    this.byName.set(name, resource);
    for (const alias of resource.aliases) this.#byAlias.set(canonicalName(alias), name);
  }

  #forgetAliases(name: ResourceName): void {
    for (const alias of (this.byName.get(name)?.aliases ?? []).map(canonicalName)) {
      if (this.#byAlias.get(alias) === name) this.#byAlias.delete(alias);
    }
  }

  /** Returns the names whose watchers lose the resource: not those that another resource has now. */
  remove(name: ResourceName): readonly ResourceName[] {
    const aliases = this.byName.get(name)?.aliases ?? [];
    this.#forgetAliases(name);
    this.byName.delete(name);
    const others = aliases.map(canonicalName).filter((alias) => alias !== name && this.find(alias) === undefined);
    return [...new Set([name, ...others])];
  }
}

/** The names by which a resource can be asked for. */
export function namesAndAliases({ name, aliases }: ReceivedResource): readonly ResourceName[] {
  return [name, ...aliases].map(canonicalName);
}
