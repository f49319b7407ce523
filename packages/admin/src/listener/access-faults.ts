import { checkWhen, readNetworks } from "@xdskit/server";
import type { AccessSettings, Role } from "../access/access.js";
import { tokenHash, tokenName } from "../access/tokens.js";

/** What is wrong with the settings of who may do what, each with its place below `access`. No secret is in it. */
export function faultsOfAccess({ tokens = {}, roles = [], trusted_proxies: proxies }: AccessSettings): Faults {
  return [
    ...Object.entries(tokens).flatMap(([name, hashes]) => faultsOfToken(name, hashes)),
    ...roles.flatMap((role, index) => faultsOfRole(role, `roles[${index}]`)),
    ...(proxies?.from ?? []).flatMap((from, index) =>
      from === "unix" || typeof readNetworks([from]) !== "string"
        ? []
        : faultAt(`trusted_proxies.from[${index}]`, "expected an IP address, a network such as 10.0.0.0/8, or unix"),
    ),
  ];
}

type Faults = readonly (readonly [place: string, message: string])[];

const faultAt = (place: string, message: string): Faults => [[place, message]];

/** `hashes` is of any kind: the table of the options does not look into the tokens. */
function faultsOfToken(name: string, hashes: unknown): Faults {
  if (!tokenName.test(name)) {
    const shown = JSON.stringify(name.slice(0, 100));
    return faultAt("tokens", `${shown} is no name of a token: expected a word of letters, digits, dots, - and _`);
  }
  const isFine =
    Array.isArray(hashes) &&
    hashes.length > 0 &&
    hashes.every((hash) => typeof hash === "string" && tokenHash.test(hash));
  return isFine
    ? []
    : faultAt(`tokens.${name}`, "expected a list with hashes of tokens, as hashOfToken() makes them: sha256:…");
}

const right = /^(?:read|operate|write(?::[\w.-]{1,100})?)$/;

function faultsOfRole({ when: { user, ...when }, may, writes_per_second = 1 }: Role, place: string): Faults {
  const isOfUser = user !== undefined && Object.keys(when).length === 0;
  return [
    ...(isOfUser ? [] : checkWhen(when).faults).flatMap(({ field, message }) =>
      faultAt([place, "when", field].filter((part) => part !== "").join("."), message),
    ),
    ...(user === undefined || typeof user === "string" ? [] : faultAt(`${place}.when.user`, "it must be a string")),
    ...may.flatMap((one, index) =>
      right.test(one) ? [] : faultAt(`${place}.may[${index}]`, "expected read, operate, write, or write:LAYER"),
    ),
    ...(writes_per_second > 0 ? [] : faultAt(`${place}.writes_per_second`, "it must be above 0")),
  ];
}
