import { meantOrAll } from "@xdskit/api";
import type { WhenFault } from "./tokens/jwt-condition.js";
import type { When } from "./when.js";

const isText = (value: unknown) => typeof value === "string";

const isUsers = (value: unknown) => {
  const { uid, ...rest } = (value ?? {}) as { readonly uid?: unknown };
  const numbers = [uid].flat();
  return numbers.length > 0 && numbers.every(isUserNumber) && Object.keys(rest).length === 0;
};
/** `-1` of 32 bits stands for no user. */
const isUserNumber = (uid: unknown) => Number.isInteger(uid) && Number(uid) >= 0 && Number(uid) < 0xffff_ffff;

const text = { name: "a string", holds: isText };
const kinds: {
  readonly [Condition in keyof Required<When>]: { readonly name: string; holds(value: unknown): boolean };
} = {
  spiffe: text,
  dns: text,
  uri: text,
  subject: text,
  token: text,
  jwt: { name: "an object", holds: (value) => typeof value === "object" && value !== null },
  unix: { name: "true, false, or { uid: 1000 }", holds: (value) => typeof value === "boolean" || isUsers(value) },
  network: {
    name: "a string or a list of strings",
    holds: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  },
};

/** What a program without types got wrong. An unknown condition would not be asked, and so hold for everybody. */
export function faultsOfKinds(when: When): readonly WhenFault[] {
  const names = Object.keys(kinds);
  return Object.entries(when).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const kind = Object.hasOwn(kinds, name) ? kinds[name as keyof When] : undefined;
    if (kind !== undefined) return kind.holds(value) ? [] : [{ field: name, message: `it must be ${kind.name}` }];
    const message = `there is no condition ${JSON.stringify(name.slice(0, 128))}${meantOrAll(name, names)}`;
    return [{ field: "", message }];
  });
}
