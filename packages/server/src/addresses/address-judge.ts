import type { Finding } from "@xdskit/api";
import { sharedAddressMessage } from "../basics/shared-address.js";
import type { LayerChange, Layers } from "../configuration/layers.js";
import { AddressesShared } from "../contracts/addresses-shared.js";
import type { Referrer } from "../contracts/references-broken.js";
import type { LayerUpdate } from "../contracts/source.js";
import { PlannedLayers } from "../references/planned-layers.js";
import type { LayerName } from "../settings/group-settings.js";
import { wholeFolderLayer } from "../sources/folder/folder-options.js";
import { claimedAddresses } from "./claimed-addresses.js";
import { type AddressedStack, type SharedAddress, sharedInStack } from "./shared-in-stack.js";

/** A stack, and the groups that have it. */
export interface AddressedGroups extends AddressedStack {
  /** Their names; called only for a change that is refused. */
  readonly groups: () => readonly string[];
}

export interface AddressJudgeOptions {
  readonly layers: Layers;
  /** The stacks that a change touches, if their groups are served something already. */
  stacksOf(changes: readonly LayerChange[], planned: PlannedLayers): Iterable<AddressedGroups>;
}

/** People read no more; the last finding gives the number of the others. */
const mostFindings = 100;

/** Finds listeners that a change would put at the address of another one, before it is made. */
export class AddressJudge {
  readonly #options: AddressJudgeOptions;

  constructor(options: AddressJudgeOptions) {
    this.#options = options;
  }

  /** Whether a change may bring a listener, or let one come to light. */
  concerns(updates: readonly LayerUpdate[]): boolean {
    return updates.some(
      ({ kind, upsert, remove = [] }) => kind === "replace" || [...upsert, ...remove].some(isListener),
    );
  }

  /** Undefined: the change gives no two listeners of a group one address. Costs the listeners of the change. */
  judge(changes: readonly LayerChange[]): AddressesShared | undefined {
    if (!changes.some(({ upserted, removed }) => upserted.some(isListener) || removed.some(isListener)))
      return undefined;
    const planned = new PlannedLayers(this.#options.layers, changes);
    const found = new Map<string, { readonly shared: SharedAddress; readonly groups: string[] }>();
    for (const stack of this.#options.stacksOf(changes, planned)) {
      for (const shared of sharedInStack(stack, changes, planned)) {
        const members = JSON.stringify(shared.listeners.map(({ layer, resource }) => [layer, resource.key]));
        const key = `${shared.address.key} ${members}`;
        const known = found.get(key);
        if (known === undefined) found.set(key, { shared, groups: [...stack.groups()] });
        else known.groups.push(...stack.groups());
      }
    }
    return errorOf([...found.values()]);
  }
}

function isListener({ type }: { readonly type: { readonly name: string } }): boolean {
  return type.name === "listener";
}

function errorOf(found: readonly { readonly shared: SharedAddress; readonly groups: readonly string[] }[]) {
  const findings: Finding[] = [];
  const listeners: Referrer[] = [];
  for (const { shared, groups } of found.slice(0, mostFindings)) {
    const [first, second, ...others] = shared.listeners;
    const { resource } = second;
    // Each of them has the address in a field of its own.
    const { text, field } = claimedAddresses(resource).find(({ key }) => key === shared.address.key) ?? shared.address;
    listeners.push(second);
    findings.push({
      code: "XDSKIT_CLIENTS_REFUSE",
      severity: "error",
      type: resource.type.name,
      resource: resource.name,
      field,
      message: sharedAddressMessage({
        address: text,
        first: first.resource.name,
        place: placeOf(first.layer),
        others: others.length,
        groups,
      }),
    });
  }
  const more = found.length - mostFindings;
  if (more > 0) {
    const message = `${more} further addresses would have several listeners`;
    findings.push({ code: "XDSKIT_CLIENTS_REFUSE", severity: "error", message });
  }
  const [first, ...rest] = findings;
  return first === undefined ? undefined : new AddressesShared([first, ...rest], listeners);
}

function placeOf(layer: LayerName): string {
  return layer === wholeFolderLayer ? "the folder" : `layer ${layer}`;
}
