import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createServer } from "../../create-server.js";
import type { ServerEvent } from "../../events.js";
import { namesIn, type RestClient, restClient } from "../../testing/rest-client.js";
import { cluster, loadAssignment } from "../../testing/test-resources.js";
import { waitFor, within } from "../../testing/wait-for.js";
import type { ServerOptions, XdsServer } from "../../xds-server.js";

interface Running {
  readonly server: XdsServer;
  readonly client: RestClient;
  readonly address: string;
  readonly events: readonly ServerEvent[];
}

/** Polls that are to be held are held for longer than any test takes. */
const longHold = { rest: { holdMs: 60_000 } };
const shortHold = { rest: { holdMs: 20 } };

async function withRest(options: ServerOptions, test: (running: Running) => Promise<void>): Promise<void> {
  const server = createServer(options);
  const events: ServerEvent[] = [];
  server.on((event) => events.push(event));
  const { rest: address } = await server.listen({ rest: "127.0.0.1:0" });
  const client = restClient(address);
  try {
    await test({ server, client, address, events });
    assert.deepEqual(
      events.filter(({ kind }) => kind === "fault"),
      [],
    );
  } finally {
    client.close();
    await server.close({ timeoutMs: 500 });
  }
  assert.equal(held(server), 0);
}

function held(server: XdsServer): number {
  return server.stats().polls.reduce((sum, { held }) => sum + held, 0);
}

const node = { id: "n1" };
const clusters = "/v3/discovery:clusters";
const endpoints = "/v3/discovery:endpoints";

describe("a poll", () => {
  it("is answered with all there is as canonical JSON (rule 140)", () =>
    withRest({}, async ({ server, client }) => {
      server.config.set([cluster("a"), cluster("b")]);
      const { status, headers, json } = await client.send(clusters, { node });
      assert.equal(status, 200);
      assert.equal(headers["content-type"], "application/json");
      const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
      assert.deepEqual(json, {
        versionInfo: server.snapshotOf("all")?.sets.get(typeUrl)?.version,
        resources: [
          { "@type": typeUrl, name: "a" },
          { "@type": typeUrl, name: "b" },
        ],
        typeUrl,
        nonce: json?.versionInfo,
      });
    }));

  it("is held while it is up to date, and answered by the change that concerns it (rules 143, 144)", () =>
    withRest(longHold, async ({ server, client }) => {
      server.config.set([loadAssignment("a", 1), loadAssignment("b", 1)]);
      const request = { node, resource_names: ["a", "missing"] };
      const first = await client.send(endpoints, request);
      assert.deepEqual(namesIn(first), ["a"]);
      const second = client.send(endpoints, { ...request, version_info: first.json?.versionInfo });
      await waitFor("the poll to be held", () => held(server) === 1);
      server.config.update({ upsert: [loadAssignment("b", 2)] });
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      assert.equal(held(server), 1);
      server.config.update({ upsert: [loadAssignment("missing", 3)] });
      const answer = await within("the held poll", second);
      assert.deepEqual(namesIn(answer).toSorted(), ["a", "missing"]);
    }));

  it("gets 304 without a body after the hold", () =>
    withRest(shortHold, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const { json } = await client.send(clusters, { node });
      const answer = await client.send(clusters, { node, version_info: json?.versionInfo });
      assert.deepEqual([answer.status, answer.body.byteLength], [304, 0]);
    }));
});
