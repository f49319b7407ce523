import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { type ApiContext, addressOf } from "../context/api-context.js";
import { EventRing } from "../events/event-ring.js";
import { EventStreams } from "../events/event-stream.js";
import { gatherEvents } from "../events/gather-events.js";
import { type EventsAsked, eventsAfter, PeerEvents } from "../events/peer-events.js";
import { problems, readRoute } from "./definition.js";

const events = readRoute({
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

/** The route of events. */
export function eventRoute(app: OpenAPIHono, context: ApiContext) {
  let streams: EventStreams | undefined;
  let own: EventRing | undefined;
  const stops: (() => void)[] = [];

  /** The events of this server. Nothing is gathered before the first reader. */
  function ownEvents(): EventRing {
    if (own !== undefined) return own;
    const { server, onRevision } = context.options;
    const ring = new EventRing();
    own = ring;
    stops.push(gatherEvents(server, ring));
    const stop = onRevision?.((revision) => ring.add("revision", context.revisionJson(revision)));
    if (stop !== undefined) stops.push(stop);
    return ring;
  }

  /** The events of all servers of the store. */
  function started(): EventStreams {
    const ring = ownEvents();
    if (context.options.peers === undefined) return new EventStreams(ring);
    const everywhere = new EventRing();
    stops.push(ring.listen(({ kind, data }) => everywhere.add(kind, data)));
    const streams = new EventStreams(everywhere);
    const following = new PeerEvents(context.peers, everywhere, () => streams.readers > 0);
    stops.push(() => following.close());
    return streams;
  }

  app.openapi(events, (c) => {
    const headers = { "content-type": "text/event-stream", "x-accel-buffering": "no" };
    // A stream that nobody reads would never end.
    if (c.req.raw.method === "HEAD") return c.body(null, 200, headers) as never;
    streams ??= started();
    const from = { address: addressOf(c.env), stillReads: () => context.stillReads(c.env) };
    const stream = streams.open(c.req.header("last-event-id"), from);
    return c.body(stream, 200, headers) as never;
  });
  return {
    /** How many readers there are. */
    readers: () => streams?.readers ?? 0,
    /** Answers other servers of the store with the events here after one. */
    answer: (asked: EventsAsked) => eventsAfter(ownEvents(), asked),
    /** Ends the readers, and the gathering of events. */
    close() {
      for (const stop of stops) stop();
      streams?.close();
    },
  };
}
