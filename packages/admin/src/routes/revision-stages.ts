import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { inTurns } from "@xdskit/api";
import { changesBetween } from "../answers/changes.js";
import {
  type StageArrivals,
  type StagesPart,
  stageArrivals,
  stagesOfParts,
  stagesPart,
} from "../answers/revision-stages.js";
import { stagesOf } from "../answers/stages.js";
import type { ApiContext } from "../context/api-context.js";
import { isReplacedRevision } from "../context/revision-arrival.js";
import { maxNames } from "../contract/limits.js";
import { revisionStagesSchema } from "../contract/schemas.js";
import { askAll } from "../listener/ask-all.js";
import { keepRecent } from "../requests/recent-revisions.js";
import { json, problems, readRoute } from "./definition.js";

const stages = readRoute({
  path: "/api/v1/revisions/{id}/stages",
  summary: "Says how far the clients are with each stage of a revision",
  description:
    "The stages are those from the revision before, with the other layers as they are now. Nodes are counted as in `arrival`.",
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(revisionStagesSchema, "The stages of each group"), ...problems(404, 503) },
});

/** The route of stages. Returns what is said of the nodes with streams to this server. */
export function revisionStagesRoute(app: OpenAPIHono, context: ApiContext): (id: string) => Promise<StagesPart> {
  const known = new Map<string, StageArrivals>();
  const here = async (id: string): Promise<StagesPart> => {
    const found = known.get(id) ?? (await arrivalsOf(context, id));
    keepRecent(known, id, found);
    // Rows are looked at for many who ask, and no more often than others may bear.
    const rows = found.groups.length < 2 ? [] : (await context.localFleet.all()).rows;
    const groups = new Map(rows.map((row) => [row.id, row.group]));
    return inTurns(stagesPart(found, (node) => groups.get(node)));
  };
  app.openapi(stages, async (c) => {
    const { id } = c.req.valid("param");
    const own = await here(id);
    const { answers } = await askAll<StagesPart>(context.peers(), "stages", id);
    const parts = answers.map(({ answer }) => answer);
    return c.json({ revision: id, ...stagesOfParts(own, parts) }, 200);
  });
  return here;
}

async function arrivalsOf(context: ApiContext, id: string): Promise<StageArrivals> {
  const { server } = context.options;
  const { revision, store } = await context.revision(id);
  const before = revision.parent === undefined ? [] : await context.contents(store, revision.parent);
  const after = await context.contents(store, id);
  const found = await inTurns(stagesOf(await context.previews(revision.layer, before, after), maxNames));
  const asked = found.filter((one) => one.stages.length > 0);
  const changed = await inTurns(changesBetween(before, after));
  const upserted = changed.flatMap(({ after: content }) => content ?? []);
  const gone = changed.flatMap(({ before: content, after: next }) => (next === undefined ? (content ?? []) : []));
  const removed = gone.map(({ type, key }) => ({ type, name: key }));
  const isReplaced = await isReplacedRevision(context, { revision, store, changes: await store.changes(id) });
  return inTurns(stageArrivals(server, asked, { layer: revision.layer, upserted, removed, isReplaced }));
}
