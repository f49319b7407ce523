import { atOnce, type Finding, inTurns, type Steps } from "@xdskit/api";
import type { GroupPreview, LayerUpdate, XdsServer } from "@xdskit/server";
import { changesOf, type ResourceChange, servedChangesOf } from "../answers/changes.js";
import type { Page } from "../answers/page.js";
import type { FieldNames } from "../answers/resource-json.js";
import { danglingIn, stagesOf } from "../answers/stages.js";
import type { GroupStages } from "../contract/answers.js";
import type { ApiContext } from "./api-context.js";

/** The effect of a change. */
export interface Outlook {
  readonly changes: readonly ResourceChange[];
  readonly stages: GroupStages[];
  readonly warnings: readonly Finding[];
}

/** The page of the changes in an answer. */
export interface ChangesPage extends Page {
  /** Names in each list of a stage, at most. */
  readonly names: number;
  /** How the fields of contents are called. Default: as in JSON. */
  readonly fields?: FieldNames;
}

/** A change of this many resources or more is looked at in several turns. */
const many = 1_000;

/** The effect of a change, computed in this turn. Throws what a plan of it throws. */
export function outlookOf({ options: { server } }: ApiContext, update: LayerUpdate, page: ChangesPage): Outlook {
  return atOnce(steps(server, update, page));
}

/**
 * The effect of a change, computed in several turns if it is large: others are served meanwhile. `isNow` says whether
 * it still holds at the moment of the call.
 */
export async function outlookInTurns(
  context: ApiContext,
  update: LayerUpdate,
  page: ChangesPage,
): Promise<{ readonly outlook: Outlook; isNow(): boolean }> {
  const began = context.applied;
  const work = steps(context.options.server, update, page);
  const outlook = await (isLarge(context, update) ? inTurns(work) : atOnce(work));
  return { outlook, isNow: () => context.applied === began };
}

/** Whether a change is worth a look before its turn. */
export function isLarge(
  { options: { server } }: ApiContext,
  { layer, kind, upsert, remove = [] }: LayerUpdate,
): boolean {
  let count = upsert.length + remove.length;
  if (kind === "replace") for (const { size } of server.layerSnapshot(layer)?.sets.values() ?? []) count += size;
  return count >= many;
}

function* steps(server: XdsServer, update: LayerUpdate, { after, names }: ChangesPage): Steps<Outlook> {
  const layer = server.layerSnapshot(update.layer);
  const previews: readonly GroupPreview[] = server.preview([update]);
  yield;
  const changes = yield* servedChangesOf(yield* changesOf(layer, update), previews);
  yield;
  const stages = after === undefined ? yield* stagesOf(previews, names) : [];
  yield;
  return { changes, stages, warnings: yield* danglingIn(previews, changes, server) };
}
