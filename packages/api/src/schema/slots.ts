import { readFileSync } from "node:fs";
import { tableFolder } from "./table.js";

/** A field where an extension stands: in its `Any`, or in the `Any` of its message. */
export interface Slot {
  /** The full name of the field. */
  readonly field: string;
  /** The categories of extensions that may stand there. */
  readonly categories: readonly string[];
}

const slotsFile = new URL("slots.txt", tableFolder);

/** The places of extensions, as the comments of the newest API in the table say. */
export function readSlots(): readonly Slot[] {
  const lines = readFileSync(slotsFile, "utf8").trim().split("\n");
  return lines.map((line) => {
    const [field = "", ...categories] = line.split(" ");
    return { field, categories };
  });
}

/** The same as text, a line for each, in a fixed order. */
export function formatSlots(slots: readonly Slot[]): string {
  const lines = slots.map(({ field, categories }) => [field, ...categories].join(" "));
  return `${[...new Set(lines)].sort().join("\n")}\n`;
}
