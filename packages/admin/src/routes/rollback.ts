import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Resource } from "@xdskit/api";
import type { Store } from "@xdskit/server";
import type { ApiContext } from "../context/api-context.js";
import { conflict, noRevisions, rollBackLayer } from "../context/change-layer.js";
import type { ApiLayer } from "../contract/admin-options.js";
import { ApiProblem } from "../contract/problem.js";
import { changeAnswerSchema, rollbackSchema } from "../contract/schemas.js";
import { bodyForm } from "../requests/body-form.js";
import { readJson } from "../requests/read-json.js";
import { expectedRevision, infoOf, pageOfDryRun } from "./changes.js";
import { answerInTurns, changesPage, json, postRoute, problems, smallBody } from "./definition.js";

const rollback = postRoute({
  "x-needs": "operate",
  path: "/api/v1/layers/{layer}/rollback",
  summary: "Makes a layer what it was at a revision",
  description:
    "It is served at once, and is a new revision. A folder's layer stays so until the folder changes the layer again, also across restarts.",
  request: {
    params: z.object({ layer: z.string() }),
    headers: z.object({
      "if-match": z.string().optional().openapi({ description: "The revision that the layer must have, in quotes" }),
    }),
    query: z.strictObject(changesPage),
    body: smallBody("Rollback"),
  },
  responses: {
    200: json(changeAnswerSchema, "The layer after the rollback, and what it changed"),
    ...problems(400, 404, 409, 412, 422, 503),
  },
});

/** The route that brings back what a layer was. */
export function rollbackRoute(app: OpenAPIHono, context: ApiContext): void {
  app.openAPIRegistry.register("Rollback", rollbackSchema);

  app.openapi(rollback, async (c) => {
    const layer = context.layer(c.req.valid("param").layer);
    const form = bodyForm(c.req.header("content-type") ?? null);
    const {
      to: asked,
      dryRun = false,
      ...given
    } = readJson(await context.bodies.read(c.req.raw), form, rollbackSchema);
    const { store } = layer;
    if (store === undefined) throw noRevisions(layer);
    const head = await context.head(layer);
    const to = asked ?? head?.parent;
    if (to === undefined && (head === undefined || layer.filled.by !== "api")) {
      const message = `layer ${JSON.stringify(layer.name)} has nothing from before its head`;
      throw ApiProblem.of(409, "XDSKIT_REVISION_UNKNOWN", message);
    }
    const contents = to === undefined ? [] : await contentsOf(context, layer, store, to);
    const tag = await expectedRevision(context, layer, c.req.raw.headers);
    const read = head?.id ?? null;
    if (asked === undefined && tag !== undefined && tag !== read) throw conflict(context, layer, head);
    // The parent is that of this head: the rollback must not undo a change that comes in between.
    const expected = asked === undefined ? read : tag;
    const page = pageOfDryRun(c.req.valid("query"), dryRun);
    const info = {
      ...infoOf(given, context.senderOf(c.env, given.author)),
      cause: { kind: "rollback", to: to ?? "" } as const,
    };
    return answerInTurns(c, await rollBackLayer(context, layer, { to, contents, expected, dryRun, info, page }));
  });
}

/** The content of a layer at a revision. Throws a problem for one of another layer. */
async function contentsOf(
  context: ApiContext,
  { name, layer }: ApiLayer,
  store: Store,
  id: string,
): Promise<readonly Resource[]> {
  const { revision } = await context.revision(id);
  if (revision.layer === layer) return context.contents(store, id);
  const other = context.revisionJson(revision).layer;
  const message = `revision ${id} is of layer ${JSON.stringify(other)}, and not of ${JSON.stringify(name)}`;
  throw ApiProblem.of(409, "XDSKIT_REVISION_UNKNOWN", message);
}
