import type { ResourceType } from "@xdskit/api";
import type { Wanted } from "../watch/wanted.js";

/** What is still to be answered of all that was asked for. */
export interface Answers {
  /** A name, or a wildcard, was answered. Only the first answer counts. */
  answered(type: ResourceType, name: string, found: boolean): void;
  /** Something of a type that was asked for as a whole is bad. */
  incomplete(type: ResourceType): void;
  /** `cluster "web"` for each that was not answered yet. */
  open(): readonly string[];
  /** Resolves to whether all was found, once all is answered. */
  readonly all: Promise<boolean>;
}

/** Follows the answers to all that is asked for. */
export function followAnswers(wanted: readonly Wanted[]): Answers {
  const open = new Map<string, string>();
  for (const { type, names } of wanted) {
    for (const name of names) open.set(keyOf(type, name), `${type.name} ${JSON.stringify(name)}`);
  }
  const whole = new Set(wanted.filter(({ names }) => names.has("*")).map(({ type }) => type.typeUrl));
  let allFound = true;
  let finish: (found: boolean) => void = () => {};
  const all = new Promise<boolean>((resolve) => {
    finish = resolve;
  });
  return {
    all,
    open: () => [...open.values()],
    answered: (type, name, found) => {
      if (!open.delete(keyOf(type, name))) return;
      allFound &&= found;
      // What is bad of the same response is told behind what is good of it.
      if (open.size === 0) setImmediate(() => finish(allFound));
    },
    incomplete: (type) => {
      if (whole.has(type.typeUrl)) allFound = false;
    },
  };
}

const keyOf = ({ typeUrl }: ResourceType, name: string) => `${typeUrl}\n${name}`;
