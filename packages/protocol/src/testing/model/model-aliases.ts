import type { Content } from "../sample-resources.js";
import type { Contents } from "./model-subscriber.js";

/** What no resource has as its name. */
export const aliasPool: readonly string[] = ["v", "w"];

/** Of these types resources have aliases. */
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
