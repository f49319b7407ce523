import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { formatAddress } from "@xdskit/server/address";
import { type AdminServer, type Readiness, startAdminServer } from "./admin-server.js";
import { pendingSource } from "./source-status.js";

describe("admin pages", () => {
  let admin: AdminServer;
  let readiness: Readiness = "starting";
  let broken = false;
  const get = (path: string, init?: RequestInit) => fetch(`http://${formatAddress(admin.address)}${path}`, init);

  before(async () => {
    admin = await startAdminServer(
      { host: "127.0.0.1", port: 0 },
      {
        readiness: () => readiness,
        metrics: async () => {
          if (broken) throw new Error("no numbers");
          return { contentType: "text/plain; version=0.0.4", text: "a_metric 1\n" };
        },
        sources: () => [pendingSource("folder config", "config")],
      },
    );
  });
  after(() => admin.close());

  test("/livez is 200 whatever happens; /readyz only when ready", async () => {
    for (const [state, status] of [
      ["starting", 503],
      ["ready", 200],
      ["stopping", 503],
    ] as const) {
      readiness = state;
      assert.equal((await get("/livez")).status, 200);
      const ready = await get("/readyz");
      assert.deepEqual([ready.status, await ready.text()], [status, `${state}\n`]);
    }
  });

  test("/metrics has Prometheus' content type", async () => {
    const response = await get("/metrics?name=x");
    assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4");
    assert.equal(await response.text(), "a_metric 1\n");
  });

  test("/api/v1/sources is JSON", async () => {
    const response = await get("/api/v1/sources");
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.deepEqual(await response.json(), {
      sources: [
        {
          ...{ name: "folder config", state: "pending", directory: "config", files: 0, resources: {}, findings: [] },
          ...{ lastRead: null, lastApplied: null },
        },
      ],
    });
  });

  test("/ names the pages in one line", async () => {
    const text = await (await get("/")).text();
    assert.match(text, /^xdskit \d+\.\d+\.\d+: \/livez \/readyz \/metrics \/api\/v1\/sources\n$/);
  });

  test("another path is 404, another method 405, HEAD has no body", async () => {
    assert.equal((await get("/api/v1/nothing")).status, 404);
    assert.equal((await get("//")).status, 404);
    const posted = await get("/livez", { method: "POST", body: "x" });
    assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
    const head = await get("/livez", { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });

  test("a fault while answering is a 500, and the next request is answered", async () => {
    broken = true;
    const response = await get("/metrics");
    broken = false;
    assert.deepEqual([response.status, await response.text()], [500, "no numbers\n"]);
    assert.equal((await get("/metrics")).status, 200);
  });

  test("a port that is in use is an error", async () => {
    const state = { readiness: () => readiness, metrics: () => Promise.reject(), sources: () => [] };
    await assert.rejects(startAdminServer(admin.address, state), { code: "EADDRINUSE" });
  });
});
