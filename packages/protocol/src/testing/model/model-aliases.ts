import type { Content } from "../sample-resources.js";

/** The resources of one type: name → content. */
export type Contents = ReadonlyMap<string, Content>;

/** Words that are no resource's name. */
export const aliasPool: readonly string[] = ["v", "w"];

/** The types whose resources have aliases. */
export const aliasTypes: ReadonlySet<string> = new Set(["route", "secret"]);

export function isAlias(word: string): boolean {
  return aliasPool.includes(word);
}

export function realNames(words: readonly string[]): readonly string[] {
  return words.filter((word) => !isAlias(word));
}

/** `1@v@w~2s` has two. */
export function aliasesOf(content: Content | undefined): readonly string[] {
  return (content ?? "").replace(/~.*/, "").split("@").slice(1);
}

/** Rules 135 and 136: the names of all resources that a word stands for, as the name of one or as an alias. */
export function bearersOf(word: string, there: Contents): readonly string[] {
  return [...there]
    .filter(([name, content]) => name === word || aliasesOf(content).includes(word))
    .map(([name]) => name);
}

/**
 * Removes the resources that a client loses when words are removed. A removed word stands for nothing: not for the
 * resource of that name, and not for one that the client had by that alias only. The server may not even know that the
 * client has that one, if the client named it differently when it was sent and no longer did when it came.
 */
export function lose(
  kept: Map<string, Content>,
  removed: readonly string[],
  { wildcard, names }: { readonly wildcard: boolean; readonly names: ReadonlySet<string> },
): void {
  const isLost = (word: string) => removed.includes(word);
  for (const [name, content] of [...kept]) {
    const aliases = aliasesOf(content);
    const isHadOtherwise = wildcard || [name, ...aliases].some((word) => names.has(word) && !isLost(word));
    if (isLost(name) || (aliases.some(isLost) && !isHadOtherwise)) kept.delete(name);
  }
}
