import type { ResourceType } from "@xdskit/api";
import type { Wanted } from "../asking/wanted.js";

/** The answers that are still missing. */
export type AwaitedAnswers = ReturnType<typeof followAnswers>;

/** Follows the answers to everything that was asked for. */
export function followAnswers(wanted: readonly Wanted[]) {
  const open = new Map<string, string>();
  for (const { type, names } of wanted) {
    for (const name of names) open.set(answerKey(type, name), `${type.name} ${JSON.stringify(name)}`);
  }
  const whole = new Set(wanted.filter(({ names }) => names.has("*")).map(({ type }) => type.typeUrl));
  let allFound = true;
  let finish: (found: boolean) => void = () => {};
  const all = new Promise<boolean>((resolve) => {
    finish = resolve;
  });
  return {
    /** Resolves once everything is answered, to whether all was found. */
    all,
    /** `cluster "web"` for each that was not answered yet. */
    open: (): readonly string[] => [...open.values()],
    /** A name, or a wildcard, was answered. Only the first answer counts. */
    answered: (type: ResourceType, name: string, found: boolean) => {
      if (!open.delete(answerKey(type, name))) return;
      allFound &&= found;
      // The errors of a response come after its good resources.
      if (open.size === 0) setImmediate(() => finish(allFound));
    },
    /** A resource of a type that was asked for as a whole is bad. */
    incomplete: (type: ResourceType) => {
      if (whole.has(type.typeUrl)) allFound = false;
    },
  };
}

const answerKey = ({ typeUrl }: ResourceType, name: string) => `${typeUrl}\n${name}`;
