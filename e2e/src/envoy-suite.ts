import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { metric } from "./harness/basics/metrics.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  type AnyVariant,
  cluster,
  httpListener,
  loadAssignment,
  routeConfiguration,
} from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import type { Envoy } from "./harness/peers/envoy.js";
import { type Between, type EnvoyLife, soonMs, startEnvoyLife } from "./harness/peers/envoy-life.js";
import { get } from "./harness/traffic/traffic.js";

/** What is not as Envoy does it by itself. */
export interface EnvoySuiteOptions {
  /** A relay, which Envoy must not notice. */
  readonly between?: Between;
  /** Envoy speaks the protocol in the other of its two ways, as `unifiedMux` says. */
  readonly unifiedMux?: boolean;
}

/** What switches Envoy to the other of its two ways to speak the protocol. */
export const unifiedMuxFeature = "envoy.reloadable_features.unified_mux";

/** With this runtime Envoy answers each response by itself. It asks with the nonce of the last one that it accepted. */
export const unifiedMux = {
  layered_runtime: { layers: [{ name: "static", static_layer: { [unifiedMuxFeature]: true } }] },
};

/** A real Envoy of that variant lives through what happens to a configuration, while traffic flows through it. */
export function testEnvoy(variant: AnyVariant, options: EnvoySuiteOptions = {}): void {
  const { between } = options;
  const how = [between && "behind a relay", options.unifiedMux && "with the unified mux"].filter(Boolean);
  test(["Envoy", variant, ...how].join(", "), { timeout: 600_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const bootstrap = options.unifiedMux ? unifiedMux : {};
    const life = await startEnvoyLife(scene, { path, variant, bootstrap, between });
    if (!(await playBoot(life))) return;
    await playChanges(life, t);
    await playServerFaults(life);
    await playStoppedEnvoy(life);
    await playRejections(life);
    await playEnd(life);
    await life.parts.traffic.stop();
  });
}

/** Tells whether Envoy has come up. */
function playBoot(life: EnvoyLife): Promise<boolean> {
  const { variant, envoy } = life.parts;
  const { admin } = envoy;
  return life.step("boots and serves traffic", async () => {
    await life.nothingWarms();
    assert.deepEqual([...(await admin.activeClusters()).keys()].sort(), ["a", "b"]);
    for (const service of ["listener", "route", "cluster", "endpoint"]) {
      const streams = await metric(life.facing.admin, "xdskit_streams_open", { service });
      assert.equal(streams > 0, variant.startsWith("per-type"), `${streams} streams to ${service}`);
    }
  });
}

async function playChanges(life: EnvoyLife, t: TestContext): Promise<void> {
  const { variant, source, port, red, green, blue } = life.parts;
  const { admin } = life.parts.envoy;

  await life.step("takes an endpoint that comes and one that goes", async () => {
    const b = loadAssignment("b", [blue.port]);
    const failures = await life.failuresDuring(async () => {
      await life.change({ endpoints: [loadAssignment("a", [red.port, green.port]), b] });
      await life.answersFrom("red", "green");
      await life.change({ endpoints: [loadAssignment("a", [green.port]), b] });
      await life.answersFrom("green");
    });
    assert.deepEqual(failures, []);
  });

  await life.step("takes a changed cluster at once, although its load assignment is as before", async () => {
    const failures = await life.failuresDuring(async () => {
      const changed = cluster({ name: "a", source, connectTimeout: "2s" });
      await life.change({ clusters: [changed, cluster({ name: "b", source })] });
      await eventually(
        "the changed cluster in service",
        async () => (await admin.activeClusters()).get("a")?.resource.connect_timeout === "2s",
        { withinMs: soonMs },
      );
      await life.nothingWarms();
      await life.answersFrom("red");
    });
    assert.deepEqual(failures, []);
  });

  await life.step("takes a changed route", async () => {
    const failures = await life.failuresDuring(async () => {
      await life.change({ routes: [routeConfiguration("routes", "b")] });
      await life.answersFrom("blue");
    });
    assert.deepEqual(failures, []);
  });

  await life.step("takes a changed listener", async () => {
    const failures = await life.failuresDuring(async () => {
      await life.change({ listeners: [life.ingress("changed")] });
      await eventually("the changed listener's answers", async () => (await get(port)).server === "changed");
      await life.answersFrom("red");
    });
    assert.deepEqual(failures, []);
  });

  await life.step("takes a route to a new cluster while the old one goes, all in one change", async () => {
    const failures = await life.failuresDuring(async () => {
      await life.swap({
        clusters: [cluster({ name: "c", source })],
        endpoints: [loadAssignment("c", [green.port])],
        routes: [routeConfiguration("routes", "c")],
      });
      await life.answersFrom("green");
      await eventually(
        "the old clusters being gone",
        async () => [...(await admin.activeClusters()).keys()].join() === "c",
      );
      await life.nothingWarms();
    });
    t.diagnostic(`${failures.length} requests failed while a cluster was exchanged for another`);
    // By polls and on streams of one type each less is said: there requests may fail while the change is on its way,
    // not once it has come.
    if (variant !== "rest") assert.deepEqual(failures, []);
    assert.deepEqual(await life.failuresDuring(() => life.answersFrom("green")), []);
  });
}

/** The server has bad files, or is away. */
async function playServerFaults(life: EnvoyLife): Promise<void> {
  const { source, red, green, blue, folder, envoy, traffic } = life.parts;
  const { admin } = envoy;

  await life.step("stays as it was when a file is bad", async () => {
    const before = await stateOf(envoy);
    try {
      await folder.putText("broken.yaml", 'resources:\n- "@type": [unclosed\n');
      await life.server.process.errorLine(/broken\.yaml/);
      await life.change({ endpoints: [loadAssignment("a", [green.port]), loadAssignment("b", [blue.port])] });
      await quiet(1_000);
      assert.deepEqual(await stateOf(envoy), before);
      await life.answersFrom("red");
    } finally {
      await folder.remove("broken.yaml");
    }
    await life.answersFrom("green");
  });

  await life.step("notices nothing of a restarted server", async () => {
    const before = await churnOf(envoy);
    const second = httpListener({ name: "second", port: await freePort(), routeName: "routes", source });
    const failures = await life.failuresDuring(async () => {
      await life.server.process.stop("SIGKILL");
      await life.serveAgain();
      // A cluster and a listener that are new show when Envoy has taken all that came before them.
      await life.change({
        clusters: [cluster({ name: "a", source }), cluster({ name: "b", source }), cluster({ name: "c", source })],
        endpoints: [
          loadAssignment("a", [green.port]),
          loadAssignment("b", [blue.port]),
          loadAssignment("c", [red.port]),
        ],
        listeners: [life.ingress(), second],
      });
      await eventually("the new cluster", async () => (await admin.activeClusters()).has("c"), { withinMs: 40_000 });
      await eventually("the new listener", async () => (await admin.activeListeners()).has("second"), {
        withinMs: 40_000,
      });
      await eventually("the new endpoint", () => traffic.lastBackends(1)[0] === "green", { withinMs: 40_000 });
      await life.nothingWarms();
    });
    const expected = new Map(before);
    for (const name of ["listener_manager.listener_added", "cluster_manager.cluster_added"]) {
      expected.set(name, (expected.get(name) ?? 0) + 1);
    }
    assert.deepEqual(await churnOf(envoy), expected);
    assert.deepEqual(failures, []);
  });

  await life.step("takes what changed while the server was away", async () => {
    const failures = await life.failuresDuring(async () => {
      await life.server.process.stop("SIGKILL");
      await life.change({
        clusters: [cluster({ name: "a", source }), cluster({ name: "c", source })],
        endpoints: [loadAssignment("a", [green.port]), loadAssignment("c", [red.port])],
      });
      await life.serveAgain();
      await eventually("the new cluster", async () => (await admin.activeClusters()).has("c"), { withinMs: 40_000 });
      await eventually("the new endpoint", () => traffic.lastBackends(1)[0] === "green", { withinMs: 40_000 });
      await eventually("the old cluster being gone", async () => !(await admin.activeClusters()).has("b"));
      await life.nothingWarms();
    });
    assert.deepEqual(failures, []);
  });
}

async function playStoppedEnvoy(life: EnvoyLife): Promise<void> {
  const { source, green, blue, envoy } = life.parts;
  const { admin } = envoy;
  await life.step("catches up after it was stopped for a while", async () => {
    const failures = await life.failuresDuring(async () => {
      process.kill(envoy.process.pid, "SIGSTOP");
      try {
        for (let seconds = 2; seconds < 10; seconds += 1) {
          await life.change({
            clusters: [
              cluster({ name: "a", source, connectTimeout: `${seconds}s` }),
              cluster({ name: `b-${seconds}`, source }),
            ],
            endpoints: [loadAssignment("a", [green.port]), loadAssignment(`b-${seconds}`, [blue.port])],
          });
          await quiet(200);
        }
      } finally {
        process.kill(envoy.process.pid, "SIGCONT");
      }
      await eventually("the last state", async () => {
        const clusters = await admin.activeClusters();
        const timeout = clusters.get("a")?.resource.connect_timeout;
        return timeout === "9s" && [...clusters.keys()].sort().join() === "a,b-9";
      });
      await life.nothingWarms();
      await life.answersFrom("green");
    });
    assert.deepEqual(failures, []);
  });
}

async function playRejections(life: EnvoyLife): Promise<void> {
  const { variant, source, red, green, blue } = life.parts;
  const { admin } = life.parts.envoy;
  // Over REST Envoy tells nobody of a rejection: it is answered once more before what it repeats is taken for one.
  const times = variant === "rest" ? 2 : 1;
  await life.step("counts a rejected cluster once, and takes the fixed one", async () => {
    const nacks = await metric(life.facing.admin, "xdskit_nacks_total", { type: "cluster" });
    const rejected = await admin.stat("cluster_manager.cds.update_rejected");
    const good = [cluster({ name: "a", source }), cluster({ name: "b", source })];
    await life.change({ clusters: [...good, cluster({ name: "d", source, isRejected: true })] });
    const count = (): Promise<number> => admin.stat("cluster_manager.cds.update_rejected");
    await eventually("the rejection", async () => (await count()) > rejected);
    await quiet(2_500);
    assert.equal(await count(), rejected + times);
    assert.equal(await metric(life.facing.admin, "xdskit_nacks_total", { type: "cluster" }), nacks + 1);
    await life.change({
      clusters: [...good, cluster({ name: "d", source, lbPolicy: "RANDOM" })],
      endpoints: [loadAssignment("a", [red.port]), loadAssignment("b", [blue.port]), loadAssignment("d", [green.port])],
    });
    await eventually("the fixed cluster", async () => (await admin.activeClusters()).has("d"), { withinMs: soonMs });
    await life.answersFrom("red");
    await life.nothingWarms();
    assert.equal(await count(), rejected + times);
  });

  await life.step("takes back the good part of a rejected change when it is undone", async () => {
    const rejected = await admin.stat("cluster_manager.cds.update_rejected");
    const count = (): Promise<number> => admin.stat("cluster_manager.cds.update_rejected");
    const timeout = async (): Promise<unknown> => (await admin.activeClusters()).get("a")?.resource.connect_timeout;
    const failures = await life.failuresDuring(async () => {
      await life.change({
        clusters: [
          cluster({ name: "a", source, connectTimeout: "3s" }),
          cluster({ name: "b", source }),
          cluster({ name: "d", source, isRejected: true }),
        ],
      });
      // Envoy keeps the good clusters of a response that it rejects.
      await eventually("the good part", async () => (await timeout()) === "3s", { withinMs: soonMs });
      await eventually("the rejection", async () => (await count()) === rejected + times);
      await life.change({});
      await eventually("the cluster as it was", async () => (await timeout()) === "1s", { withinMs: soonMs });
      await life.answersFrom("red");
    });
    assert.deepEqual(failures, []);
    assert.equal(await count(), rejected + times);
  });

  await life.step("counts a rejected listener once, and takes the fixed one", async () => {
    const nacks = await metric(life.facing.admin, "xdskit_nacks_total", { type: "listener" });
    const rejected = await admin.stat("listener_manager.lds.update_rejected");
    const second = { name: "second", port: await freePort(), routeName: "routes", source };
    await life.change({ listeners: [life.ingress(), httpListener({ ...second, isRejected: true })] });
    const count = (): Promise<number> => admin.stat("listener_manager.lds.update_rejected");
    await eventually("the rejection", async () => (await count()) > rejected);
    await quiet(2_500);
    assert.equal(await count(), rejected + times);
    assert.equal(await metric(life.facing.admin, "xdskit_nacks_total", { type: "listener" }), nacks + 1);
    await life.change({ listeners: [life.ingress(), httpListener(second)] });
    await eventually("an answer of the fixed listener", async () => (await get(second.port)).status === 200, {
      withinMs: soonMs,
    });
    assert.equal(await count(), rejected + times);
    await life.answersFrom("red");
  });
}

async function playEnd(life: EnvoyLife): Promise<void> {
  const { scene, source } = life.parts;
  const { admin } = life.parts.envoy;
  await life.step("removes a listener and a cluster", async () => {
    const second = httpListener({ name: "second", port: await freePort(), routeName: "routes", source });
    await life.change({ listeners: [life.ingress(), second] });
    await eventually("two listeners", async () => (await admin.activeListeners()).size === 2);
    const failures = await life.failuresDuring(async () => {
      await life.change({ clusters: [cluster({ name: "a", source })] });
      await eventually("one listener", async () => (await admin.activeListeners()).size === 1);
      await eventually("one cluster", async () => (await admin.activeClusters()).size === 1);
      await life.answersFrom("red");
    });
    assert.deepEqual(failures, []);
  });

  await scene.step("goes on when the server is stopped", async () => {
    const failures = await life.failuresDuring(async () => {
      const started = performance.now();
      assert.deepEqual(await life.facing.process.stop("SIGTERM"), { code: 0, signal: null });
      assert.ok(performance.now() - started < 5_000, "the server took longer than 5 s");
      await life.answersFrom("red");
    });
    assert.deepEqual(failures, []);
  });
}

/** The configuration in use with its versions, and how many updates came. */
async function stateOf({ admin }: Envoy): Promise<unknown> {
  return {
    clusters: await admin.activeClusters(),
    listeners: await admin.activeListeners(),
    routes: await admin.routes(),
    endpoints: await admin.endpoints(),
    updates: await admin.stats("update_(rejected|success|failure)$"),
  };
}

/** What Envoy counts when something is exchanged. */
function churnOf({ admin }: Envoy): Promise<ReadonlyMap<string, number>> {
  return admin.stats(
    "^(listener_manager\\.(listener_(added|modified|removed|in_place_updated)|lds\\.update_rejected)|cluster_manager\\.(cluster_(added|modified|removed)|cds\\.update_rejected)|.*\\.rds\\..*config_reload)$",
  );
}
