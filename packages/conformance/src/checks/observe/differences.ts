import { nameList } from "../../verdicts/names.js";
import { Failed } from "../../verdicts/verdicts.js";
import type { ReceivedResponse } from "../../wire/messages.js";

/** The names of the resources in responses. */
export function namesIn(responses: Iterable<ReceivedResponse>): readonly string[] {
  return [...new Set([...responses].flatMap(({ resources }) => resources.map(({ name }) => name)))];
}

/** Throws Failed unless both are the same names. */
export function sameNames(what: string, is: Iterable<string>, expected: Iterable<string>): void {
  const [has, wants] = [new Set(is), new Set(expected)];
  const lacks = [...wants].filter((name) => !has.has(name));
  const more = [...has].filter((name) => !wants.has(name));
  if (lacks.length > 0) throw new Failed(`${what} lacks ${nameList(lacks)}`);
  if (more.length > 0) throw new Failed(`${what} has ${nameList(more)}, which nobody asked for`);
}

/** Throws Failed unless all of the names are there. */
export function allThere(what: string, is: Iterable<string>, expected: Iterable<string>): void {
  const has = new Set(is);
  const lacks = [...expected].filter((name) => !has.has(name));
  if (lacks.length > 0) throw new Failed(`${what} lacks ${nameList(lacks)}`);
}
