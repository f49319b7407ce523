import type { XdskitError } from "@xdskit/api";
import { claimedAddresses } from "../../basics/claimed-addresses.js";
import { sharedAddressMessage } from "../../basics/shared-address.js";
import { errorOfFound, type FindingAbout, type FoundInGroups, foundInGroups } from "../../configuration/judgement.js";
import type { Judge, JudgedChange } from "../../contracts/parts/judge.js";
import type { LayerUpdate } from "../../contracts/source.js";
import type { LayerName } from "../../settings/group-settings.js";
import { wholeFolderLayer } from "../../sources/folder/folder-options.js";
import { type SharedAddress, sharedInStack } from "./shared-in-stack.js";

/** Finds listeners that a change would put at the address of another one, before it is made. */
export class AddressJudge implements Judge {
  /** Whether a change may bring a listener, or let one come to light. */
  concerns(updates: readonly LayerUpdate[]): boolean {
    return updates.some(
      ({ kind, upsert, remove = [] }) => kind === "replace" || [...upsert, ...remove].some(isListener),
    );
  }

  /** Undefined: the change gives no two listeners of a group one address. Costs the listeners of the change. */
  judge({ changes, stacks, whereIs }: JudgedChange): XdskitError | undefined {
    if (!changes.some(({ upserted, removed }) => upserted.some(isListener) || removed.some(isListener)))
      return undefined;
    const found = foundInGroups(
      stacks,
      (stack) => sharedInStack(stack, changes),
      ({ address, listeners }) =>
        `${address.key} ${JSON.stringify(listeners.map(({ layer, resource }) => [layer, resource.key]))}`,
    );
    return errorOfFound(
      "XDSKIT_CLIENTS_REFUSE",
      found,
      describeShared,
      "further addresses would have several listeners",
      whereIs,
    );
  }
}

function isListener({ type }: { readonly type: { readonly name: string } }): boolean {
  return type.name === "listener";
}

function describeShared({ what, groups }: FoundInGroups<SharedAddress>): FindingAbout {
  const [first, about, ...others] = what.listeners;
  // Each of them has the address in a field of its own.
  const { text, field } = claimedAddresses(about.resource).find(({ key }) => key === what.address.key) ?? what.address;
  const place = placeOf(first.layer);
  const message = { address: text, first: first.resource.name, place, others: others.length, groups };
  return { about, field, message: sharedAddressMessage(message) };
}

function placeOf(layer: LayerName): string {
  return layer === wholeFolderLayer ? "the folder" : `layer ${layer}`;
}
