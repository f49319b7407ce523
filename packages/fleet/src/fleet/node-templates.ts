import { encodeNode } from "@xdskit/client/connecting";
import type { FleetOptions } from "./fleet-options.js";

/** The group of a node, in turn. */
export function groupOf(number: number, { groups }: Pick<FleetOptions, "groups">): number {
  return number % groups;
}

type Templates = Pick<FleetOptions, "nodeId" | "nodeCluster" | "locality" | "metadata" | "groups">;

/** The serialized `Node` of a node: `{n}` is its number, with five digits so that ids sort, `{g}` its group's. */
export function nodeBytes(number: number, templates: Templates): Uint8Array {
  const group = groupOf(number, templates);
  const fill = (text: string) => filled(text, number, group);
  const [region = "", zone = "", subZone = ""] = templates.locality.split("/").map(fill);
  return encodeNode({
    id: fill(templates.nodeId),
    cluster: fill(templates.nodeCluster),
    locality: templates.locality === "" ? undefined : { region, zone, subZone },
    metadata: filledValue(templates.metadata, fill) as Record<string, unknown>,
  });
}

function filled(text: string, number: number, group: number): string {
  return text.replaceAll("{n}", String(number).padStart(5, "0")).replaceAll("{g}", String(group));
}

function filledValue(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((item) => filledValue(item, fill));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filledValue(item, fill)]));
}
