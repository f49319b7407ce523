import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { createResourceTypes, resourceTypes } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import type { GroupSettings } from "../../settings/group-settings.js";
import { waitFor, within } from "../../testing/basics/wait-for.js";
import { namesIn } from "../../testing/clients/rest-client.js";
import { longHold, parkedPolls, shortHold, withRest } from "../../testing/running-rest.js";
import { cluster, listener, loadAssignment, routeConfiguration } from "../../testing/test-resources.js";

const node = { id: "n1" };
const clusters = "/v3/discovery:clusters";
const endpoints = "/v3/discovery:endpoints";

/** Waits long enough for triggered work to be done. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("a poll", () => {
  it("a poll is answered with all resources as canonical JSON (rule 140)", () =>
    withRest({}, async ({ server, client }) => {
      server.config.set([cluster("a"), cluster("b", "x")]);
      const { status, headers, json } = await client.send(clusters, { node });
      assert.equal(status, 200);
      assert.equal(headers["content-type"], "application/json");
      const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
      assert.deepEqual(json, {
        versionInfo: server.snapshotOf("all")?.sets.get(typeUrl)?.version,
        resources: [
          { "@type": typeUrl, name: "a" },
          { "@type": typeUrl, name: "b", altStatName: "x" },
        ],
        typeUrl,
        nonce: json?.versionInfo,
      });
    }));

  it("a poll may be spelled in camelCase and in snake_case (rule 141)", () =>
    withRest({ rest: shortHold }, async ({ server, client }) => {
      server.config.set([loadAssignment("a", 1), loadAssignment("b", 1)]);
      const snake = await client.send(endpoints, { node, resource_names: ["b"] });
      const camel = await client.send(endpoints, { node, resourceNames: ["b"] });
      assert.deepEqual([snake, camel].map(namesIn), [["b"], ["b"]]);
      const version = snake.json?.versionInfo;
      for (const request of [
        { node, resource_names: ["b"], version_info: version },
        { node, resourceNames: ["b"], versionInfo: version },
      ]) {
        assert.equal((await client.send(endpoints, request)).status, 304);
      }
    }));

  it("a poll is about the type and the API of its path, whatever its type_url says (rule 142)", () =>
    withRest({}, async ({ server, client }) => {
      server.config.set([cluster("a"), listener("l")]);
      const type_url = "type.googleapis.com/envoy.config.listener.v3.Listener";
      const v3 = await client.send(clusters, { node, type_url });
      assert.equal(v3.json?.typeUrl, "type.googleapis.com/envoy.config.cluster.v3.Cluster");
      const v2 = await client.send("/v2/discovery:clusters", { node, type_url });
      assert.equal(v2.json?.typeUrl, "type.googleapis.com/envoy.api.v2.Cluster");
      assert.deepEqual(v2.json?.resources, [{ "@type": "type.googleapis.com/envoy.api.v2.Cluster", name: "a" }]);
      assert.equal(v2.json?.versionInfo, v3.json?.versionInfo);
    }));

  it("a poll has a path for each type that has one, with a query or without", () =>
    withRest({}, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      for (const type of resourceTypes) {
        if (type.restPath === undefined) continue;
        const request = { node, resource_names: ["*"] };
        const v3 = await client.send(`/v3/discovery:${type.restPath}?from=test`, request);
        assert.deepEqual([v3.status, v3.json?.typeUrl], [200, type.typeUrl]);
        const v2 = await client.send(`/v2/discovery%3A${type.restPath}`, request);
        const expected = type.v2TypeUrl === undefined ? [404, undefined] : [200, type.v2TypeUrl];
        assert.deepEqual([v2.status, v2.json?.typeUrl], expected, type.name);
      }
    }));

  it("a poll may be for a user's own type that has a path", () => {
    const types = createResourceTypes([{ schema: NodeSchema, name: "node", nameOf: "id", restPath: "nodes" }]);
    return withRest({ types }, async ({ server, client }) => {
      server.config.set([create(NodeSchema, { id: "a" }), create(NodeSchema, { id: "b" })]);
      const { json } = await client.send("/v3/discovery:nodes", { node, resource_names: ["b"] });
      const typeUrl = "type.googleapis.com/envoy.config.core.v3.Node";
      assert.deepEqual(json?.resources, [{ "@type": typeUrl, id: "b" }]);
    });
  });

  it("a poll gets 304 without a body after the hold (rule 143)", () =>
    withRest({ rest: shortHold }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const { json } = await client.send(clusters, { node });
      const answer = await client.send(clusters, { node, version_info: json?.versionInfo });
      assert.deepEqual([answer.status, answer.body.byteLength], [304, 0]);
    }));

  it("a poll is not parked if holding is switched off", () =>
    withRest({ rest: { holdMs: 0 } }, async ({ server, client }) => {
      assert.equal((await client.send(clusters, { node })).status, 503);
      assert.equal((await client.send(clusters, { node, version_info: "7" })).status, 304);
      server.config.set([cluster("a")]);
      const { status, json } = await client.send(clusters, { node });
      assert.equal(status, 200);
      assert.equal((await client.send(clusters, { node, version_info: json?.versionInfo })).status, 304);
    }));

  it("a poll is parked while it is up to date, and answered by the change that concerns it (rules 143, 144, 145)", () =>
    withRest({ rest: longHold }, async ({ server, client }) => {
      server.config.set([loadAssignment("a", 1), loadAssignment("b", 1)]);
      const request = { node, resource_names: ["a", "missing"] };
      const first = await client.send(endpoints, request);
      assert.deepEqual(namesIn(first), ["a"]);
      const second = client.send(endpoints, { ...request, version_info: first.json?.versionInfo });
      await waitFor("the poll to be parked", () => parkedPolls(server) === 1);
      server.config.update({ upsert: [loadAssignment("b", 2), cluster("a")] });
      await someTurns();
      assert.equal(parkedPolls(server), 1);
      server.config.update({ upsert: [loadAssignment("missing", 3)] });
      const answer = await within("the parked poll", second);
      assert.deepEqual([...namesIn(answer)].sort(), ["a", "missing"]);
      const third = client.send(endpoints, { ...request, version_info: answer.json?.versionInfo });
      await waitFor("the poll to be parked", () => parkedPolls(server) === 1);
      server.config.remove({ type: "eds", name: "a" });
      assert.deepEqual(namesIn(await within("the parked poll", third)), ["missing"]);
    }));

  it("a poll gets the same answer from two servers with the same content, also after a change on both", () =>
    withRest({ rest: shortHold }, (one) =>
      withRest({ rest: shortHold }, async (other) => {
        const request = { node, resource_names: ["a", "b"] };
        const ask = (version_info = "") =>
          Promise.all([one, other].map(({ client }) => client.send(endpoints, { ...request, version_info })));
        const content = [loadAssignment("a", 1), loadAssignment("b", 1), loadAssignment("c", 1)];
        one.server.config.set(content);
        other.server.config.set([...content].reverse().concat(loadAssignment("d", 1)));
        const [first, second] = await ask();
        assert.equal(first?.json?.versionInfo, second?.json?.versionInfo);
        const statuses = async (version?: string) => (await ask(version)).map(({ status }) => status);
        assert.deepEqual(await statuses(first?.json?.versionInfo), [304, 304]);
        for (const { server } of [one, other]) server.config.update({ upsert: [loadAssignment("b", 2)] });
        assert.deepEqual(await statuses(first?.json?.versionInfo), [200, 200]);
      }),
    ));

  it("a poll gets the current resources if its version is unknown", () =>
    withRest({ rest: longHold }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      for (const version_info of ["7", "before the restart", "0000000000000001"]) {
        assert.equal((await client.send(clusters, { node, version_info })).status, 200);
      }
    }));

  it("a poll may carry any nonce, or none (rule 146)", () =>
    withRest({ rest: shortHold }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const { json } = await client.send(clusters, { node });
      for (const nonce of [undefined, "", "7", json?.nonce]) {
        const request = { node, version_info: json?.versionInfo, response_nonce: nonce };
        assert.equal((await client.send(clusters, request)).status, 304);
      }
    }));

  it("a poll gets without names all resources of wildcard types and none of others, and with * all of any type", () =>
    withRest({}, async ({ server, client }) => {
      server.config.set([cluster("a"), listener("l"), routeConfiguration("r", "a"), loadAssignment("a", 1)]);
      const names = async (path: string, resource_names?: readonly string[]) =>
        namesIn(await client.send(`/v3/discovery:${path}`, { node, resource_names }));
      assert.deepEqual(await names("clusters"), ["a"]);
      assert.deepEqual(await names("listeners", []), ["l"]);
      assert.deepEqual(await names("routes"), []);
      assert.deepEqual(await names("endpoints", []), []);
      assert.deepEqual(await names("routes", ["*"]), ["r"]);
      assert.deepEqual(await names("endpoints", ["*", "x"]), ["a"]);
      assert.deepEqual(await names("clusters", ["nowhere"]), []);
    }));

  it("a poll is answered at once if a name does not exist, and then parked until it does", () =>
    withRest({ rest: longHold }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const request = { node, resource_names: ["late"] };
      const { status, json } = await client.send(endpoints, request);
      assert.deepEqual([status, json?.resources], [200, []]);
      const second = client.send(endpoints, { ...request, version_info: json?.versionInfo });
      await waitFor("the poll to be parked", () => parkedPolls(server) === 1);
      server.config.update({ upsert: [loadAssignment("late", 1)] });
      assert.deepEqual(namesIn(await within("the parked poll", second)), ["late"]);
    }));

  it("a poll is parked while nothing is known, and then gets 304 with a version, and 503 without one (rule 147)", () =>
    withRest({ rest: { holdMs: 200 } }, async ({ server, client }) => {
      const late = await client.send(clusters, { node });
      assert.deepEqual([late.status, late.json?.detail], [503, "no configuration is known yet"]);
      assert.equal(late.headers["retry-after"], "1");
      assert.equal((await client.send(clusters, { node, version_info: "0000000000000001" })).status, 304);
      const waiting = client.send(clusters, { node });
      await waitFor("the poll to be parked", () => parkedPolls(server) === 1);
      server.config.set([cluster("a")]);
      assert.equal((await waiting).status, 200);
    }));

  it("a poll gets the layers of the node's group", () => {
    const groups: readonly GroupSettings[] = [
      { name: "edge", match: { cluster: "edge-*", "metadata.stage": "prod" }, layers: ["edge"] },
      { name: "core", match: { id: "core" }, layers: ["core"] },
    ];
    return withRest({ groups, rest: longHold }, async ({ server, client, events }) => {
      server.config.layer("edge").set([cluster("e")]);
      server.config.layer("core").set([cluster("c")]);
      const edge = { id: "x", cluster: "edge-1", metadata: { stage: "prod" } };
      assert.deepEqual(namesIn(await client.send(clusters, { node: edge })), ["e"]);
      const core = await client.send(clusters, { node: { id: "core" } });
      assert.deepEqual(namesIn(core), ["c"]);
      const parked = client.send(clusters, { node: { id: "core" }, version_info: core.json?.versionInfo });
      await waitFor("the poll to be parked", () => parkedPolls(server) === 1);
      assert.deepEqual(server.stats().groups, [
        { name: "edge", streams: 0, polls: 0 },
        { name: "core", streams: 0, polls: 1 },
      ]);
      server.config.layer("edge").set([cluster("e", "new")]);
      await someTurns();
      assert.equal(parkedPolls(server), 1);
      server.config.layer("core").set([cluster("c", "new")]);
      assert.equal((await within("the parked poll", parked)).status, 200);
      const nobody = await client.send(clusters, { node: { id: "stranger" } });
      assert.equal(nobody.status, 403);
      assert.match(nobody.json?.detail ?? "", /no group of this server matches the node: id "stranger"/);
      const [refusal] = events.filter(({ kind }) => kind === "poll-refused");
      assert.deepEqual(refusal && { ...refusal, peer: "", message: "" }, {
        kind: "poll-refused",
        peer: "",
        path: clusters,
        node: undefined,
        status: 403,
        message: "",
      });
    });
  });

  it("a poll is compressed for clients that want it, once for all", () =>
    withRest({}, async ({ server, client }) => {
      server.config.set(Array.from({ length: 100 }, (_, index) => cluster(`cluster-${index}`)));
      const plain = await client.send(clusters, { node });
      const ask = (encoding: string) => client.send(clusters, { node }, { headers: { "accept-encoding": encoding } });
      const gzip = await ask("gzip, deflate");
      assert.equal(gzip.headers["content-encoding"], "gzip");
      assert.deepEqual(gunzipSync(gzip.body), plain.body);
      const br = await ask("gzip;q=0.5, br");
      assert.equal(br.headers["content-encoding"], "br");
      assert.deepEqual(brotliDecompressSync(br.body), plain.body);
      assert.ok(br.body.byteLength < plain.body.byteLength / 5);
      for (const none of ["", "identity", "gzip;q=0, br;q=0.0", "zstd"]) {
        assert.deepEqual((await ask(none)).body, plain.body, none);
      }
    }));

  it("a poll ends with its client while it is parked", () =>
    withRest({ rest: longHold }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const { json } = await client.send(clusters, { node });
      const leaving = new AbortController();
      const parked = client.send(clusters, { node, version_info: json?.versionInfo }, { signal: leaving.signal });
      await waitFor("the poll to be parked", () => parkedPolls(server) === 1);
      leaving.abort();
      await assert.rejects(parked, { name: "AbortError" });
      await waitFor("nothing to be left", () => parkedPolls(server) === 0);
    }));

  it("a poll gets 304 if it is parked when the server closes, and the server closes at once", async () => {
    let parked: Promise<{ status: number }> | undefined;
    let unanswered: Promise<{ status: number }> | undefined;
    await withRest({ rest: longHold }, async ({ server, client }) => {
      unanswered = client.send(clusters, { node });
      await waitFor("the first poll to be parked", () => parkedPolls(server) === 1);
      server.config.set([cluster("a")]);
      const { json } = await client.send(clusters, { node });
      assert.equal((await unanswered).status, 200);
      parked = client.send(clusters, { node, version_info: json?.versionInfo });
      await waitFor("the poll to be parked", () => parkedPolls(server) === 1);
      const closed = server.close({ timeoutMs: 60_000 });
      assert.equal((await within("the parked poll", parked)).status, 304);
      await within("the server to close", closed);
      await assert.rejects(client.send(clusters, { node }));
    });
  });

  it("a poll gets 503 if nothing is known when the server closes, since another server may know more", async () => {
    await withRest({ rest: longHold }, async ({ server, client }) => {
      const parked = client.send(clusters, { node, version_info: "of-before" });
      await waitFor("the poll to be parked", () => parkedPolls(server) === 1);
      const closed = server.close({ timeoutMs: 60_000 });
      assert.equal((await within("the parked poll", parked)).status, 503);
      await within("the server to close", closed);
    });
  });

  it("a poll is counted", () =>
    withRest({ rest: shortHold }, async ({ server, client, events }) => {
      server.config.set([cluster("a"), cluster("b")]);
      const { json } = await client.send(clusters, { node });
      await client.send(clusters, { node, version_info: json?.versionInfo });
      await client.send(clusters, "{");
      await client.send("/nowhere", "{");
      const { polls, pollsRefused, types } = server.stats();
      const [row, ...more] = polls;
      assert.deepEqual(more, []);
      assert.deepEqual(row && { ...row, requestBytes: 0 }, {
        typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        type: "cluster",
        api: "v3",
        parked: 0,
        polls: 2,
        requestBytes: 0,
        answered: 1,
        notModified: 1,
        incomplete: 0,
        leftOut: 0,
      });
      assert.ok((row?.requestBytes ?? 0) > 30);
      assert.deepEqual(pollsRefused, [
        { status: 400, count: 1 },
        { status: 404, count: 1 },
      ]);
      const [type] = types;
      assert.deepEqual([type?.responses, type?.resources, type?.acknowledged], [1, 2, 1]);
      // A busy machine may hold up the loop.
      const others = ["configuration-applied", "event-loop-blocked"];
      const told = events.map(({ kind }) => kind).filter((kind) => !others.includes(kind));
      assert.deepEqual(told, ["acknowledged", "poll-refused", "poll-refused"]);
    }));
});
