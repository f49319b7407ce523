import type { Kernel } from "../../contracts/parts/kernel.js";
import type { PluggedPart } from "../../contracts/parts/part.js";
import { AddressJudge } from "./address-judge.js";

/** Refuses changes that put two listeners of a group at one address (`addresses`). */
export function addressesPart({ options }: Kernel): PluggedPart {
  return options.addresses === "refuse" ? { judges: [new AddressJudge()] } : {};
}
