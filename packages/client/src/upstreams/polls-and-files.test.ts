import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { XdsClient } from "../contract/xds-client.js";
import { createClient } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { ServerSettings } from "../options/client-options.js";
import { clusterUrl, respond, startOddRestServer } from "../testing/odd/odd-rest-server.js";
import { watchCluster, watchClusters } from "../testing/told.js";
import { waitFor } from "../testing/wait-for.js";

interface Tools {
  /** Moves a file of clusters over `cds.json`. */
  move(version: string, ...names: readonly string[]): Promise<void>;
  readonly file: ServerSettings;
  client(...servers: readonly ServerSettings[]): {
    readonly client: XdsClient;
    readonly events: readonly ClientEvent[];
  };
  rest(url: string): ServerSettings;
}

async function withTools(run: (tools: Tools) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "xdskit-client-"));
  const path = join(folder, "cds.json");
  const clients: XdsClient[] = [];
  try {
    await run({
      async move(version, ...names) {
        const resources = names.map((name) => ({ "@type": clusterUrl, name, altStatName: version }));
        await writeFile(`${path}.new`, JSON.stringify({ versionInfo: version, resources }));
        await rename(`${path}.new`, path);
      },
      file: { kind: "files", files: [{ type: "cds", path }] },
      rest: (url) => ({ kind: "rest", url, refreshDelayMs: 20 }),
      client(...servers) {
        const client = createClient({ node: { id: "n" }, servers, backoff: { maxMs: 100 } });
        const events: ClientEvent[] = [];
        client.on((event) => events.push(event));
        clients.push(client);
        return { client, events };
      },
    });
  } finally {
    for (const client of clients) await client.close();
    await rm(folder, { recursive: true, force: true });
  }
}

suite("a client of files", () => {
  test("a client of files is told once that a file has nothing", () =>
    withTools(async ({ move, client: make, file }) => {
      await move("1");
      const { client } = make(file);
      const all = watchClusters(client);
      await waitFor("the answer", () => all.lines.length > 0);
      assert.deepEqual(all.lines, ["changed "]);
      await move("2", "a");
      await waitFor("a", () => all.now === "a=2");
      assert.deepEqual(all.lines, ["changed ", "changed a=2"]);
    }));

  test("a client of files gets everything when it asks for all after some names", () =>
    withTools(async ({ move, client: make, file }) => {
      await move("1", "a");
      const { client } = make(file);
      const one = watchCluster(client, "a");
      await waitFor("a", () => one.now === "a=1");
      const none = watchCluster(client, "none");
      await waitFor("that there is none", () => none.lines.length > 0);
      assert.deepEqual(none.lines, ["error XDSKIT_RESOURCE_ABSENT"]);
      const all = watchClusters(client);
      await waitFor("all", () => all.now === "a=1");
      assert.deepEqual(one.lines, ["changed a=1"]);
    }));

  test("a client of files is told why if a file is bad or missing", () =>
    withTools(async ({ move, client: make, file }) => {
      const { client } = make(file);
      await assert.rejects(client.get("cluster", "a"), { code: "XDSKIT_FILE_UNREADABLE" });
      const one = watchCluster(client, "a");
      await move("1", "a", "a");
      await waitFor("the error", () => one.lines.includes("error XDSKIT_DUPLICATE_RESOURCE"));
      await move("2", "a");
      await waitFor("a", () => one.now === "a=2");
      await move("3", "b", "b");
      await waitFor("the error", () => one.lines.includes("ambient XDSKIT_DUPLICATE_RESOURCE"));
      assert.equal(one.now, "a=2");
    }));
});

suite("a client of a REST server", () => {
  test("a client of a REST server gets a resource, or is told why it cannot", async () => {
    const server = await startOddRestServer((response) => respond(response, "1", ["a"]));
    await withTools(async ({ client: make, rest }) => {
      const { client } = make(rest(server.url));
      assert.equal((await client.get("cluster", "a")).version, "1");
      await assert.rejects(client.get("vhds", "a/b"), { code: "XDSKIT_POLL_UNSUPPORTED" });
      const { client: other } = make(rest("http://127.0.0.1:1"));
      await assert.rejects(other.get("cluster", "a"), { code: "XDSKIT_UPSTREAM_AWAY" });
    }).finally(() => server.close());
  });
});

suite("fallback between polls and files (A71)", () => {
  test("a client goes from a REST server that is away to files, and back with the differences", () =>
    withTools(async ({ move, client: make, file, rest }) => {
      await move("1", "a", "old");
      const taken = await startOddRestServer((response) => respond(response, "1", []));
      await taken.close();
      const { client, events } = make(rest(taken.url), file);
      const all = watchClusters(client);
      await waitFor("the file", () => all.now === "a=1 old=1");
      const resources = ["a", "new"].map((name) => ({ "@type": clusterUrl, name, altStatName: "1" }));
      const server = await startOddRestServer(
        (response) => respond(response, "9", resources),
        Number(new URL(taken.url).port),
      );
      try {
        await waitFor(
          () => `the server: ${all.lines.join("\n")}`,
          () => all.now === "a=1 new=1",
        );
        assert.deepEqual(all.lines, ["changed a=1 old=1", "changed a=1 new=1"]);
        // The version is another server's.
        assert.equal(server.polls[0]?.request.versionInfo, undefined);
        assert.equal(events.filter(({ kind }) => kind === "switched").length, 2);
      } finally {
        await server.close();
      }
    }));

  test("a client goes from a missing file to a REST server, and back when the file comes", async () => {
    const server = await startOddRestServer((response) => {
      respond(response, "1", [{ "@type": clusterUrl, name: "a", altStatName: "rest" }, "b"]);
    });
    await withTools(async ({ move, client: make, file, rest }) => {
      const { client } = make(file, rest(server.url));
      const all = watchClusters(client);
      const one = watchCluster(client, "a");
      await waitFor("the server", () => all.now === "a=rest b=" && one.now === "a=rest");
      await move("1", "a", "c");
      await waitFor("the file", () => all.now === "a=1 c=1" && one.now === "a=1");
      assert.deepEqual(all.lines, ["changed a=rest b=", "changed a=1 c=1"]);
    }).finally(() => server.close());
  });
});
