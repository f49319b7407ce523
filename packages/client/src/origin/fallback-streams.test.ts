import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SotwOrDelta } from "@xdskit/protocol";
import type { XdsClient } from "../contract/xds-client.js";
import { createClientWith } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import { contentOf, Place } from "../testing/place.js";
import { waitFor } from "../testing/wait-for.js";
import { createStreamUpstream } from "../upstreams/grpc/stream-upstream.js";

/** A client of both places, over a stream for each type. */
function clientOf(first: Place, second: Place, variant: SotwOrDelta, events: ClientEvent[]): XdsClient {
  const options = { node: { id: "me" }, validate: false, backoff: { firstMs: 2, maxMs: 8 } } as const;
  const client = createClientWith({ servers: ["first", "second"], ...options }, (settings, context, sink) => {
    const server = settings.kind === "grpc" ? settings.address : "";
    const { transport } = server === "first" ? first : second;
    return createStreamUpstream({ server, variant, api: "v3", aggregated: false, transport }, context, sink);
  });
  client.on((event) => events.push(event));
  return client;
}

const answeredFirst = (event: ClientEvent) => event.kind === "responded" && event.server === "first";

describe("fallback over a stream for each type (A71)", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`an attempt of one type leaves the open streams of others alone, so nothing stays that only the other server had, ${variant}`, async () => {
      const [first, second] = [new Place(), new Place()];
      first.change("cluster", "a", "first");
      first.change("listener", "l", "first");
      second.change("cluster", "a", "second");
      second.change("listener", "l", "second");
      first.refused.add("listener");
      await second.up();
      const events: ClientEvent[] = [];
      const client = clientOf(first, second, variant, events);
      let clusters: readonly string[] = [];
      let listener = "";
      client.watch("cluster", "*", {
        onChanged({ resources }) {
          clusters = Array.from(resources.values(), ({ name, message }) => `${name} ${contentOf(message)}`);
        },
      });
      client.watch("listener", "l", {
        onChanged({ message }) {
          listener = contentOf(message);
        },
      });
      try {
        await waitFor("the second server", () => clusters.join() === "a second" && listener === "second");
        await first.up();
        await waitFor("the clusters of the first server", () => events.some(answeredFirst));
        second.change("cluster", "x", "second");
        await waitFor("x", () => clusters.length === 2);
        const before = first.refusals;
        await waitFor("another attempt", () => first.refusals > before + 1);
        first.refused.clear();
        await waitFor("the first server", () => listener === "first");
        await waitFor(
          () => `a alone: ${clusters}`,
          () => clusters.join() === "a first",
        );
        const answered = events.findIndex(answeredFirst);
        const streams = events
          .slice(answered)
          .flatMap((event) =>
            (event.kind === "connected" || event.kind === "disconnected") && event.server === "first"
              ? [`${event.kind} ${event.type?.name}`]
              : [],
          );
        assert.deepEqual(streams, ["connected listener"], "its stream of clusters stays open");
      } finally {
        await client.close();
        await Promise.all([first.down(), second.down()]);
      }
    });

    it(`watchers hear what a server answered while another one was active, once it is active again, ${variant}`, async () => {
      const [first, second] = [new Place(), new Place()];
      second.change("cluster", "a", "second");
      first.change("cluster", "a", "first");
      first.refused.add("cluster");
      second.refused.add("listener");
      await second.up();
      const events: ClientEvent[] = [];
      const client = clientOf(first, second, variant, events);
      const told = new Map<string, string>();
      client.watch("cluster", "a", { onChanged: ({ message }) => void told.set("a", contentOf(message)) });
      client.watch("listener", "none", { onChanged() {}, onError: ({ code }) => void told.set("none", code) });
      client.watch("listener", "*", {
        onChanged: ({ resources }) => void told.set("all", `${resources.size} listeners`),
      });
      try {
        await waitFor("the second server", () => told.get("a") === "second");
        await first.up();
        await waitFor("the listeners of the first server", () => events.some(answeredFirst));
        assert.equal(told.get("all"), undefined);
        first.refused.clear();
        await waitFor(
          () => JSON.stringify([...told]),
          () =>
            told.get("a") === "first" &&
            told.get("none") === "XDSKIT_RESOURCE_ABSENT" &&
            told.get("all") === "0 listeners",
        );
      } finally {
        await client.close();
        await Promise.all([first.down(), second.down()]);
      }
    });
  }
});
