import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { XdskitError } from "@xdskit/api";
import type { LiveOptions } from "../contracts/kernel-options.js";
import type { ServerOptions } from "../contracts/server-options.js";
import { createServer } from "../create-server.js";
import type { GroupSettings } from "../settings/group-settings.js";
import { waitFor } from "../testing/basics/wait-for.js";
import { judgingClient } from "../testing/clients/judging-client.js";
import { delta } from "../testing/clients/xds-client.js";
import { ads, openStreams, urlOf, withMemoryServer } from "../testing/running-server.js";
import { cluster, listener, routeConfiguration } from "../testing/test-resources.js";

const typeUrl = urlOf("cluster");
const groups = (edge: readonly string[], match = "edge"): GroupSettings[] => [
  { name: "edge", match: { cluster: match }, layers: edge },
  { name: "rest", match: { cluster: "rest" }, layers: ["rest"] },
];

describe("reconfigure", () => {
  it("brings nodes to the layers of their group, new resources before removals", () =>
    withMemoryServer({ groups: groups(["a"]) }, async ({ server, client }) => {
      for (const name of ["a", "b", "rest"]) server.config.layer(name).set([cluster(name), cluster("all")]);
      const stream = delta(client.open(ads("delta")));
      const node = { id: "n", cluster: "edge" };
      stream.send({ node, typeUrl });
      const first = await stream.next();
      assert.deepEqual(first.resources.map(({ name }) => name).sort(), ["a", "all"]);
      stream.send({ typeUrl, responseNonce: first.nonce });
      await waitFor("the node to be synced", () => server.node("n")?.state === "synced");
      server.reconfigure({ groups: groups(["b"]) });
      const told: string[] = [];
      while (!told.includes("-a")) {
        const { resources, removedResources, nonce, typeUrl } = await stream.next();
        told.push(...resources.map(({ name }) => `+${name}`), ...removedResources.map((name) => `-${name}`));
        stream.send({ typeUrl, responseNonce: nonce });
      }
      // Resources that both have are not sent again.
      assert.deepEqual(told, ["+b", "-a"]);
      assert.equal(server.node("n")?.group, "edge");
      server.reconfigure({ groups: groups(["b"], "nobody").map((group) => ({ ...group, match: { id: "n" } })) });
      server.reconfigure({ groups: groups(["b"], "nobody") });
      await waitFor("its stream to end", () => openStreams(server) === 0);
    }));

  it("leaves streams of unchanged groups alone", () =>
    withMemoryServer({ groups: groups(["a"]) }, async ({ server, client }) => {
      for (const name of ["a", "rest"]) server.config.layer(name).set([cluster(name)]);
      const stream = delta(client.open(ads("delta")));
      stream.send({ node: { id: "n", cluster: "rest" }, typeUrl });
      await stream.next();
      server.reconfigure({ groups: [...groups(["rest", "a"])], rollout: "off" });
      server.config.layer("rest").update({ upsert: [cluster("more")] });
      const { resources, removedResources } = await stream.next();
      assert.deepEqual([resources.map(({ name }) => name), removedResources], [["more"], []]);
    }));

  it("applies limits to the next stream, and a rollout to the next change", () =>
    withMemoryServer({ limits: { streamsPerNode: 2 } }, async ({ server, client, transport, address }) => {
      server.config.set([cluster("a", "1")]);
      const [one, two] = ["n1", "n2"].map((id) => judgingClient(transport, address, { id }));
      for (const each of [one, two]) each?.connect();
      await waitFor("both to have it", () => [one, two].every((each) => each?.current.get("a") === "1"));
      server.reconfigure({ limits: { streamsPerNode: 1 }, rollout: { steps: [{ count: 1 }], soakMs: 1e6 } });
      const stream = delta(client.open(ads("delta")));
      stream.send({ node: { id: "n1" }, typeUrl });
      await waitFor("it to be refused", () => server.stats().refused.length === 1);
      server.config.set([cluster("a", "2")]);
      await waitFor("a rollout", () => server.rollouts().length === 1);
      await waitFor("one to have it", () => [one, two].filter((each) => each?.current.get("a") === "2").length === 1);
      server.reconfigure({ rollout: "off" });
      server.config.set([cluster("a", "2"), cluster("b")]);
      await waitFor("both to have the next", () => [one, two].every((each) => each?.current.has("b")));
      for (const each of [one, two]) each?.leave();
    }));

  it("applies `references` to the next change", () =>
    withMemoryServer({ references: "refuse" }, async ({ server }) => {
      server.config.set([cluster("a"), routeConfiguration("r", "a"), listener("l")]);
      const remove = () => server.config.remove({ type: "cluster", name: "a" });
      assert.throws(remove, XdskitError);
      server.reconfigure({ references: "warn" });
      remove();
      server.config.update({ upsert: [cluster("a")] });
      server.reconfigure({ references: "refuse" });
      assert.throws(remove, XdskitError);
    }));

  it("changes nothing if an option is wrong, or cannot change", async () => {
    const wrong: readonly (readonly [LiveOptions, RegExp, ServerOptions?])[] = [
      [{ limits: { requestBytes: 5, streams: 7 } }, /limits\.requestBytes cannot change while the server runs/],
      [{ groups: [{ name: "x", match: {}, layers: [] }] }, /no layers/],
      [{ groups: () => undefined }, /that a function names cannot/],
      [{ rollout: "off" }, /that a function names cannot/, { groups: () => undefined }],
      [{ ordering: { lingerMs: -1 } }, /ordering\.lingerMs must be/],
      [{ reference: "warn" } as LiveOptions, /references/],
    ];
    for (const [change, message, options] of wrong) {
      const server = createServer(options);
      try {
        assert.throws(() => server.reconfigure(change), message);
      } finally {
        await server.close({ timeoutMs: 500 });
      }
    }
  });
});
