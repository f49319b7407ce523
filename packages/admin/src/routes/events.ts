import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ApiContext } from "../context/api-context.js";
import { EventRing } from "../events/event-ring.js";
import { EventStreams } from "../events/event-stream.js";
import { gatherEvents } from "../events/gather-events.js";
import { problems } from "./definition.js";

const events = createRoute({
  method: "get",
  path: "/api/v1/events",
  summary: "Tells what happens, as it happens",
  description:
    "Server-sent events `revision`, `node`, `rollout` and `problem`, each with an id to resume after (`Last-Event-ID`). The event `reset` says that some are missing: read everything again.",
  request: {
    headers: z.object({ "last-event-id": z.string().optional().openapi({ description: "The last event that came" }) }),
  },
  responses: {
    200: {
      description: "Events without end",
      content: { "text/event-stream": { schema: z.string() } },
      headers: z.object({ "x-accel-buffering": z.string().openapi({ description: "`no`" }) }),
    },
    ...problems(503),
  },
});

/** The route of events. `readers` counts those that are open, `close` ends them. */
export function eventRoute(app: OpenAPIHono, context: ApiContext): { readers(): number; close(): void } {
  let streams: EventStreams | undefined;
  const stops: (() => void)[] = [];

  /** Nothing is gathered before somebody reads. */
  function started(): EventStreams {
    const { server, onRevision } = context.options;
    const ring = new EventRing();
    stops.push(gatherEvents(server, ring));
    const stop = onRevision?.((revision) => ring.add("revision", context.revisionJson(revision)));
    if (stop !== undefined) stops.push(stop);
    return new EventStreams(ring);
  }

  app.openapi(events, (c) => {
    const headers = { "content-type": "text/event-stream", "x-accel-buffering": "no" };
    // A stream that nobody reads would never end.
    if (c.req.raw.method === "HEAD") return c.body(null, 200, headers) as never;
    streams ??= started();
    const stream = streams.open(c.req.header("last-event-id"));
    return c.body(stream, 200, headers) as never;
  });
  return {
    readers: () => streams?.readers ?? 0,
    close() {
      for (const stop of stops) stop();
      streams?.close();
    },
  };
}
