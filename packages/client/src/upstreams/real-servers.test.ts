import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { createServer, type XdsServer } from "@xdskit/server";
import type { XdsClient } from "../contract/xds-client.js";
import { createClient } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { ClientOptions, ServerSettings } from "../options/client-options.js";
import { oddCluster } from "../testing/odd/odd-responses.js";
import { type Told, watchCluster } from "../testing/told.js";
import { waitFor } from "../testing/wait-for.js";

interface Serving {
  readonly server: XdsServer;
  readonly address: string;
  /** Streams that are open. */
  open(): number;
}

/** Starts a server with these clusters, `name=content`. */
async function serve(t: TestContext, contents: string, address = "127.0.0.1:0"): Promise<Serving> {
  const server = createServer();
  t.after(() => server.close({ timeoutMs: 0 }));
  server.config.set(clustersOf(contents));
  const { grpc } = await server.listen({ grpc: address });
  return { server, address: grpc, open: () => server.stats().streams.reduce((sum, { open }) => sum + open, 0) };
}

function clustersOf(contents: string) {
  return contents
    .split(" ")
    .filter((one) => one !== "")
    .map((one) => {
      const [name = "", content] = one.split("=");
      return oddCluster(name, content);
    });
}

function start(t: TestContext, options: Partial<ClientOptions>): { client: XdsClient; events: readonly ClientEvent[] } {
  const client = createClient({ node: { id: "n" }, backoff: { firstMs: 10, maxMs: 100 }, ...options });
  t.after(() => client.close());
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  return { client, events };
}

const has = (told: Told, now: string) => waitFor(`${now}; was told ${told.lines.join("; ")}`, () => told.now === now);

/** An address without a listener. */
async function nowhere(t: TestContext): Promise<string> {
  const { server, address } = await serve(t, "");
  await server.close({ timeoutMs: 0 });
  return address;
}

for (const variant of ["sotw", "delta"] as const) {
  for (const aggregated of [true, false]) {
    const grpc = (address: string): ServerSettings => ({ kind: "grpc", address, variant, aggregated });

    describe(`real servers, ${variant}, ${aggregated ? "ADS" : "per type"}`, () => {
      test("real servers are tried in order: the second is asked while the first is away, and left when that is back (A71)", async (t) => {
        const second = await serve(t, "a=second b=second");
        const address = await nowhere(t);
        const { client, events } = start(t, { servers: [grpc(address), grpc(second.address)] });
        const [a, b] = [watchCluster(client, "a"), watchCluster(client, "b")];
        await has(a, "a=second");
        await has(b, "b=second");
        const first = await serve(t, "a=first", address);
        await has(a, "a=first");
        // The first server does not have it, and the client believes the first.
        await waitFor("b is gone", () => b.now === "");
        await waitFor("the second is left", () => second.open() === 0);
        assert.deepEqual(
          events.flatMap((event) => (event.kind === "switched" ? `${event.from}>${event.to}` : [])),
          [`${address}>${second.address}`, `${second.address}>${address}`],
        );
        // Existing resources stay when the first server goes, so no other server is asked for them. New names are asked
        // of the second.
        await first.server.close({ timeoutMs: 0 });
        await waitFor("the first is missed", () => a.lines.at(-1)?.startsWith("ambient") === true);
        assert.equal(a.now, "a=first");
        second.server.config.set(clustersOf("a=other c=second"));
        const c = watchCluster(client, "c");
        await has(c, "c=second");
        await has(a, "a=other");
        assert.equal(second.open(), 1);
      });

      test("real servers are not asked for resources that the client has, however long the first is away (A71)", async (t) => {
        const [first, second] = [await serve(t, "a=first"), await serve(t, "a=second")];
        const { client, events } = start(t, { servers: [grpc(first.address), grpc(second.address)] });
        const a = watchCluster(client, "a");
        await has(a, "a=first");
        await first.server.close({ timeoutMs: 0 });
        await waitFor("five attempts", () => events.filter(({ kind }) => kind === "failed").length >= 5);
        assert.equal(a.now, "a=first");
        assert.equal(second.server.stats().streams.length, 0);
      });

      test("real servers belong to authorities, and an absent server disturbs no other authority (A47)", async (t) => {
        const name = (authority: string, id: string) => `xdstp://${authority}/envoy.config.cluster.v3.Cluster/${id}`;
        const usual = await serve(t, "a=usual");
        const east = await serve(t, `${name("east", "a")}=east`);
        const spare = await serve(t, `${name("west", "a")}=spare`);
        const west = await nowhere(t);
        const { client } = start(t, {
          servers: [grpc(usual.address)],
          authorities: {
            east: { servers: [grpc(east.address)] },
            west: { servers: [grpc(west), grpc(spare.address)] },
          },
        });
        const watched = [
          [watchCluster(client, "a"), "a=usual"],
          [watchCluster(client, name("east", "a")), `${name("east", "a")}=east`],
          [watchCluster(client, name("west", "a")), `${name("west", "a")}=spare`],
        ] as const;
        for (const [told, now] of watched) await has(told, now);
        assert.deepEqual([usual.open(), east.open(), spare.open()], [1, 1, 1]);
        const { address } = east;
        await east.server.close({ timeoutMs: 0 });
        await waitFor("it is missed", () => watched[1][0].lines.at(-1)?.startsWith("ambient") === true);
        usual.server.config.set(clustersOf("a=changed"));
        await has(watched[0][0], "a=changed");
        assert.deepEqual(watched[0][0].lines, ["changed a=usual", "changed a=changed"]);
        await serve(t, `${name("east", "a")}=back`, address);
        await has(watched[1][0], `${name("east", "a")}=back`);
        watched[2][0].cancel();
        await waitFor("what nobody watches is left", () => spare.open() === 0);
      });

      test("real servers send a thousand changes at once as one batch, and the other watchers are left alone", async (t) => {
        const names = Array.from({ length: 2_000 }, (_, index) => `c${index}`);
        const changing = names.slice(0, 1_000);
        const { server, address } = await serve(t, names.map((name) => `${name}=1`).join(" "));
        let read = 0;
        const checks = {
          cluster: () => {
            read += 1;
            return undefined;
          },
        };
        const { client, events } = start(t, { servers: [grpc(address)], checks });
        const watched = names.map((name) => watchCluster(client, name));
        const calls: number[] = [];
        client.watch("cluster", "*", { onChanged: ({ upserted }) => void calls.push(upserted.length) });
        await waitFor("all", () => watched.every(({ now }) => now !== "") && calls.length > 0);
        const updates = () => events.flatMap((event) => (event.kind === "updated" ? [event.update] : []));
        const responses = () => events.filter(({ kind }) => kind === "responded").length;
        assert.equal(read, names.length);
        const before = [updates().length, responses(), calls.length] as const;
        server.config.update({ upsert: changing.map((name) => oddCluster(name, "2")) });
        await waitFor("the last", () => watched[999]?.now === "c999=2");
        await waitFor("each", () => watched.slice(0, 1_000).every(({ lines }) => lines.length === 2));
        assert.deepEqual(
          [updates().length, responses(), calls.length],
          before.map((count) => count + 1),
        );
        assert.equal(updates().at(-1)?.upserted.length, 1_000);
        assert.equal(calls.at(-1), 1_000);
        // Unchanged resources that come again are not even read.
        assert.equal(read, names.length + 1_000);
        assert.ok(watched.slice(1_000).every(({ lines }) => lines.length === 1));
      });
    });
  }
}
