import type { OpenAPIHono, z } from "@hono/zod-openapi";
import { Activity, stepMs, sumOfSamples } from "../activity/activity.js";
import { historyOf } from "../answers/history-of.js";
import type { ApiContext } from "../context/api-context.js";
import type { ActivitySample } from "../contract/admin-options.js";
import { activitySchema } from "../contract/page-schemas.js";
import { askAll } from "../listener/ask-all.js";
import { json, readRoute } from "./definition.js";

/** More changes are not marked. */
const maxChanges = 100;

const activity = readRoute({
  path: "/api/v1/activity",
  summary: "Says what happened in the last half hour",
  description:
    "Responses, rejections, and nodes from which something was kept, every 15 seconds since the start of the server or for half an hour; and the changes of that time. A server that does not answer is left out.",
  responses: { 200: json(activitySchema, "The samples and the changes, the oldest first") },
});

/** The route of the last half hour. `answer`: the samples of this server. */
export function activityRoute(app: OpenAPIHono, context: ApiContext) {
  const { server, layers } = context.options;
  const made = context.options.activity === undefined ? new Activity(server) : undefined;
  const here = () => (context.options.activity ?? made)?.samples() ?? [];
  app.openapi(activity, async (c) => {
    const others = await askAll<readonly ActivitySample[]>(context.peers(), "activity");
    const samples = sumOfSamples([here(), ...others.answers.map(({ answer }) => answer)]);
    const [first] = samples;
    const newest = await historyOf(layers, maxChanges, undefined);
    const changes = newest
      .filter(({ time }) => first !== undefined && time >= first.at)
      .map((revision) => context.revisionJson(revision))
      .map(({ id, layer, number, time, author }) => ({ id, layer, number, at: time, author }))
      .reverse();
    const shown = samples.map((sample) => ({ ...sample, at: new Date(sample.at).toISOString() }));
    return c.json({ stepMs, samples: shown, changes } satisfies z.output<typeof activitySchema>, 200);
  });
  return { answer: async () => here(), close: () => made?.close() };
}
