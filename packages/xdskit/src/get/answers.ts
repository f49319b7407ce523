import type { ResourceType } from "@xdskit/api";
import type { Wanted } from "../asking/wanted.js";

/** The answers that are still missing. */
export interface AwaitedAnswers {
  /** Resolves once everything is answered, to whether all was found. */
  readonly all: Promise<boolean>;
  /** `cluster "web"` for each that was not answered yet. */
  open(): readonly string[];
  /** A name, or a wildcard, was answered. Only the first answer counts. */
  answered(type: ResourceType, name: string, found: boolean): void;
  /** A resource of a type that was asked for as a whole is bad. */
  incomplete(type: ResourceType): void;
}

/** Follows the answers to everything that was asked for. */
export function followAnswers(wanted: readonly Wanted[]): AwaitedAnswers {
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
    all,
    open: () => [...open.values()],
    answered(type, name, found) {
      if (!open.delete(answerKey(type, name))) return;
      allFound &&= found;
      // The errors of a response come after its good resources.
      if (open.size === 0) setImmediate(() => finish(allFound));
    },
    incomplete(type) {
      if (whole.has(type.typeUrl)) allFound = false;
    },
  };
}

const answerKey = ({ typeUrl }: ResourceType, name: string) => `${typeUrl}\n${name}`;
