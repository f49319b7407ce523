import { oneByOne, type Resource, type ResourceType, type Steps } from "@xdskit/api";
import type { ConfigArrival, NodeArrival, XdsServer } from "@xdskit/server";
import type { GroupStages, RevisionStages } from "../contract/answers.js";
import { countsOfNodes, type EachOfServer } from "./arrival-parts.js";

/** What a revision changed. */
export interface ChangedContents {
  readonly layer: string;
  readonly upserted: readonly Resource[];
  readonly removed: readonly { readonly type: ResourceType; readonly name: string }[];
  /** Whether a later change of the layer has replaced some of them. */
  readonly isReplaced: boolean;
}

/** The stages of a revision, each with the arrival of what it brings. */
export interface StageArrivals {
  readonly groups: readonly {
    readonly group: string;
    readonly stages: readonly { readonly stage: GroupStages["stages"][number]; readonly arrival: ConfigArrival }[];
  }[];
}

/** Splits a change into the arrivals of its stages. Costs nothing until somebody asks how far they are. */
export function* stageArrivals(
  server: Pick<XdsServer, "contentArrival">,
  stages: readonly GroupStages[],
  { layer, upserted, removed, isReplaced }: ChangedContents,
): Steps<StageArrivals> {
  const found = stages.map(({ group }) => ({
    group,
    stages: [] as StageArrivals["groups"][number]["stages"][number][],
  }));
  for (const [index, { stages: steps }] of stages.entries())
    for (const stage of steps) {
      const named = new Set<string>();
      for (const { type, added, changed, removed: gone } of stage.changes)
        for (const name of [...added, ...changed, ...gone]) named.add(`${type} ${name}`);
      const isOf = (type: ResourceType, name: string) =>
        named.has(`${type.name} ${name}`) || named.has(`${type.typeUrl} ${name}`);
      const ofStage = { upserted: [] as Resource[], removed: [] as ChangedContents["removed"][number][] };
      yield* oneByOne(upserted, (one) => void (isOf(one.type, one.name) && ofStage.upserted.push(one)));
      yield* oneByOne(removed, (one) => void (isOf(one.type, one.name) && ofStage.removed.push(one)));
      found[index]?.stages.push({ stage, arrival: server.contentArrival({ layer, ...ofStage, isReplaced }) });
    }
  return { groups: found };
}

/** How far the nodes with streams to one server are, as servers tell each other. */
export interface StagesPart {
  readonly groups: readonly {
    readonly group: string;
    readonly stages: readonly (GroupStages["stages"][number] & {
      /** By id: one node may have streams to several servers. */
      readonly each: EachOfServer;
    })[];
  }[];
}

/** How far they are now. `groupOf`: the group of a node. */
export function* stagesPart(
  { groups }: StageArrivals,
  groupOf: (node: string) => string | undefined,
): Steps<StagesPart> {
  const found = groups.map(({ group }) => ({ group, stages: [] as StagesPart["groups"][number]["stages"][number][] }));
  for (const [index, { group, stages }] of groups.entries())
    for (const { stage, arrival } of stages) {
      const own = new Map<string, NodeArrival>();
      yield* oneByOne(arrival.eachNode(), ([id, state]) => {
        if (groups.length === 1 || groupOf(id) === group) own.set(id, state);
      });
      found[index]?.stages.push({ ...stage, each: Object.fromEntries(own) });
    }
  return { groups: found };
}

/** What all servers say together. The stages are those of the first: contents decide, and others have the same. */
export function stagesOfParts(own: StagesPart, others: readonly StagesPart[]): Omit<RevisionStages, "revision"> {
  const groups = own.groups.map(({ group, stages }) => ({
    group,
    stages: stages.map(({ each, ...stage }, index) => {
      const same = others.flatMap((other) => {
        const theirs = other.groups.find((one) => one.group === group)?.stages;
        return theirs?.length === stages.length ? [theirs[index]?.each ?? {}] : [];
      });
      return { ...stage, counts: countsOfNodes([each, ...same]) };
    }),
  }));
  return { groups };
}
