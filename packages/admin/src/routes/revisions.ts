import { setImmediate as nextTurn } from "node:timers/promises";
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { inTurns } from "@xdskit/api";
import { decodeStored } from "@xdskit/server";
import { changesBetween, changesJson, countsOf, type ResourceChange } from "../answers/changes.js";
import { historyOf } from "../answers/history-of.js";
import { pageBehindCursor } from "../answers/page.js";
import { stagesOf } from "../answers/stages.js";
import type { ApiContext } from "../context/api-context.js";
import { maxPage, usualPage } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";
import { diffSchema, revisionAnswerSchema, revisionsSchema } from "../contract/schemas.js";
import { after, answerInTurns, changesPage, fieldNames, flag, json, limit, problems, readRoute } from "./definition.js";

const list = readRoute({
  path: "/api/v1/revisions",
  summary: "Lists revisions, the newest first",
  request: {
    query: z.strictObject({ layer: z.string().optional(), limit: limit(100, maxPage), after }),
  },
  responses: {
    200: json(revisionsSchema, "A page of revisions"),
    ...problems(400, 404, 503),
  },
});

const get = readRoute({
  path: "/api/v1/revisions/{id}",
  summary: "Shows a revision and what it changed",
  request: {
    params: z.object({ id: z.string() }),
    query: z.strictObject({ limit: limit(usualPage, maxPage), after, fields: fieldNames }),
  },
  responses: {
    200: json(revisionAnswerSchema, "The revision, and a page of its changes by type and name"),
    ...problems(400, 404, 503),
  },
});

const diff = readRoute({
  path: "/api/v1/diff",
  summary: "Compares two revisions of a layer",
  request: {
    query: z.strictObject({
      from: z.string(),
      to: z.string().optional().openapi({ description: "Default: the head of the layer" }),
      stages: flag.optional().openapi({ description: "`false`: without the stages" }),
      ...changesPage,
    }),
  },
  responses: {
    200: json(diffSchema, "A page of what differs, by type and name"),
    ...problems(400, 404, 409, 503),
  },
});

/** The routes of history. */
export function revisionRoutes(app: OpenAPIHono, context: ApiContext): void {
  const { server, registry } = context.options;
  const reading = { registry, types: server.types };

  app.openapi(list, async (c) => {
    const { layer, limit: most, after: cursor } = c.req.valid("query");
    const layers = layer === undefined ? context.options.layers : [context.layer(layer)];
    const found = await historyOf(layers, most + 1, cursor === undefined ? undefined : await context.revision(cursor));
    const revisions = found.slice(0, most);
    const next = found.length > most ? { next: revisions.at(-1)?.id } : {};
    return answerInTurns(c, { revisions: revisions.map((one) => context.revisionJson(one)), ...next });
  });

  app.openapi(get, async (c) => {
    const { revision, store } = await context.revision(c.req.valid("param").id);
    const { limit: most, after: cursor, fields } = c.req.valid("query");
    const all = [...(await store.changes(revision.id))].sort((a, b) =>
      a.type === b.type ? (a.key < b.key ? -1 : 1) : a.type < b.type ? -1 : 1,
    );
    const page: ResourceChange[] = [];
    const { items, ...next } = pageBehindCursor(all, { limit: most, after: cursor });
    for (const [index, { type, key, from, to }] of items.entries()) {
      if (index % 100 === 99) await nextTurn();
      const read = async (version: string | undefined) => {
        const bytes = version === undefined ? undefined : await store.content(type, key, version);
        return bytes && decodeStored({ type, key, version: version ?? "", bytes }, reading);
      };
      page.push({ before: await read(from), after: await read(to) });
    }
    const changes = await changesJson(page, context.showAs(fields));
    return answerInTurns(c, { ...context.revisionJson(revision), changes, ...next });
  });

  app.openapi(diff, async (c) => {
    const {
      from: fromId,
      to: toId,
      stages: isWithStages = true,
      limit,
      after: cursor,
      names,
      fields,
    } = c.req.valid("query");
    const { revision: from, store } = await context.revision(fromId);
    const to = toId === undefined ? await store.head(from.layer) : (await context.revision(toId)).revision;
    if (to === undefined || to.layer !== from.layer)
      throw ApiProblem.of(409, "XDSKIT_API_REQUEST", "the two revisions are of different layers");
    const [before, after] = [await context.contents(store, from.id), await context.contents(store, to.id)];
    const all = await inTurns(changesBetween(before, after));
    const { items, ...next } = pageBehindCursor(all, { limit, after: cursor });
    const changes = await changesJson(items, context.showAs(fields));
    const stages =
      isWithStages && cursor === undefined
        ? await inTurns(stagesOf(await context.previews(from.layer, before, after), names))
        : [];
    const ends = { from: context.revisionJson(from), to: context.revisionJson(to) };
    return answerInTurns(c, { ...ends, counts: countsOf(all), changes, ...next, stages });
  });
}
