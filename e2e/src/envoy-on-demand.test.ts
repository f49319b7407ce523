import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Resource } from "@xdskit/api";
import type { OnDemandOptions, Supplier, SupplyRequest, XdsServer } from "@xdskit/server";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  answering,
  cluster,
  configSource,
  httpListener,
  listener,
  loadAssignment,
  typeUrl,
} from "./harness/basics/resources.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import type { EnvoyAdmin } from "./harness/peers/envoy-admin.js";
import { type HttpBackend, startHttpBackend } from "./harness/traffic/http-backend.js";
import { get } from "./harness/traffic/traffic.js";
import { resourcesOf, startLibrary } from "./harness/xdskit/library.js";

/** What is not there is answered in less: the filter's own timeout is 5 s, and the server's 3 s. */
const atOnceMs = 2_500;

const variants = ["ads-delta", "per-type-delta"] as const;
type Variant = (typeof variants)[number];

interface Props {
  readonly port: number;
  readonly source: Record<string, unknown>;
}

interface Stage extends Props {
  readonly scene: Scene;
  readonly server: XdsServer;
  readonly admin: EnvoyAdmin;
  /** The body of the answer, or its status where that is not 200. */
  answer(headers: Readonly<Record<string, string>>): Promise<string>;
  /** The same; fails if it takes as long as a timeout of the filter or of the server. */
  answerAtOnce(headers: Readonly<Record<string, string>>): Promise<string>;
}

/** A server in this process, and an Envoy that takes its listener from it, and clusters only when it needs them. */
async function setStage(
  t: TestContext,
  variant: Variant,
  onDemand: OnDemandOptions | undefined,
  resources: (props: Props) => readonly ResourceText[],
): Promise<Stage | undefined> {
  const path = peer("envoy", t);
  if (path === undefined) return undefined;
  const scene = await createScene(t);
  const props: Props = { source: configSource(variant), port: await freePort() };
  const { server, address } = await startLibrary(scene, { onDemand }, resources(props));
  const grpc = { grpc_services: [{ envoy_grpc: { cluster_name: "xdskit" } }] };
  const ads = { api_type: "DELTA_GRPC", transport_api_version: "V3", ...grpc };
  const dynamic = { lds_config: props.source, ...(variant === "ads-delta" ? { ads_config: ads } : {}) };
  const { admin } = await startEnvoy(scene, {
    path,
    server: address,
    variant,
    bootstrap: { dynamic_resources: dynamic },
  });
  const answer = async (headers: Readonly<Record<string, string>>): Promise<string> => {
    const { status, body } = await get(props.port, { headers });
    return status === 200 ? body : String(status ?? body);
  };
  const answerAtOnce = async (headers: Readonly<Record<string, string>>): Promise<string> => {
    const started = performance.now();
    const said = await answer(headers);
    const took = performance.now() - started;
    assert.ok(took < atOnceMs, `${said} after ${Math.round(took)} ms`);
    return said;
  };
  return { ...props, scene, server, admin, answer, answerAtOnce };
}

/** A supplier that knows what a test puts into it, and hears of names that are asked for later. */
class Shelf {
  readonly asked: string[] = [];
  readonly #known = new Map<string, Resource>();
  readonly #watching = new Map<string, SupplyRequest>();

  readonly supply: Supplier = (request) => {
    const { type, name, signal } = request;
    const key = `${type.name} ${name}`;
    this.asked.push(key);
    this.#watching.set(key, request);
    signal.addEventListener("abort", () => {
      if (this.#watching.get(key) === request) this.#watching.delete(key);
    });
    return this.#known.get(key);
  };

  put(...texts: readonly ResourceText[]): void {
    for (const resource of resourcesOf(...texts)) {
      for (const name of [resource.name, ...resource.aliases]) {
        const key = `${resource.type.name} ${name}`;
        this.#known.set(key, resource);
        this.#watching.get(key)?.update(resource);
      }
    }
  }

  take(type: string, name: string): void {
    this.#known.delete(`${type} ${name}`);
    this.#watching.get(`${type} ${name}`)?.update(undefined);
  }
}

const filter = (config: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: "envoy.filters.http.on_demand",
  typed_config: { "@type": typeUrl("envoy.extensions.filters.http.on_demand.v3.OnDemand"), ...config },
});

const virtualHost = (name: string, body: string, domains: readonly string[]): ResourceText => ({
  "@type": typeUrl("envoy.service.discovery.v3.Resource"),
  name: `routes/${name}`,
  aliases: domains.map((domain) => `routes/${domain}`).filter((alias) => alias !== `routes/${name}`),
  resource: { "@type": typeUrl("envoy.config.route.v3.VirtualHost"), ...answering(`routes/${name}`, body, domains) },
});

for (const variant of variants) {
  test(`Envoy's virtual hosts on demand, ${variant}`, { timeout: 120_000 }, async (t) => {
    const shelf = new Shelf();
    const stage = await setStage(t, variant, { types: ["vhds"], supply: shelf.supply }, ({ port, source }) => [
      httpListener({ name: "ingress", port, routeName: "routes", source, filters: [filter()] }),
      {
        "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
        name: "routes",
        vhds: { config_source: source },
      },
      virtualHost("layer.com", "of a layer", ["layer.com"]),
    ]);
    if (stage === undefined) return;
    const { scene, server, answer, answerAtOnce } = stage;
    const becomes = (host: string, expected: string) =>
      eventually(`${host} answered by ${expected}`, async () => {
        assert.equal(await answer({ host }), expected);
        return true;
      });

    await scene.step("answers 404 at once for an unknown host", async () => {
      assert.equal(await answerAtOnce({ host: "unknown.com" }), "404");
      assert.deepEqual(shelf.asked, ["virtual-host routes/unknown.com"]);
    });
    await scene.step("finds a host of the layers and a supplied host at the first request", async () => {
      assert.equal(await answerAtOnce({ host: "layer.com" }), "of a layer");
      shelf.put(virtualHost("supplied.com", "supplied", ["supplied.com"]));
      assert.equal(await answerAtOnce({ host: "supplied.com" }), "supplied");
      assert.deepEqual(shelf.asked.slice(1), ["virtual-host routes/supplied.com"]);
    });
    await scene.step("finds one virtual host by each of its domains", async () => {
      shelf.put(virtualHost("shop", "shop", ["a.com", "b.com"]));
      assert.equal(await answerAtOnce({ host: "a.com" }), "shop");
      assert.equal(await answerAtOnce({ host: "b.com" }), "shop");
      const hosts = server.snapshotOf("all")?.sets.get(typeUrl("envoy.config.route.v3.VirtualHost"));
      assert.deepEqual(Array.from(hosts ?? [], ({ name }) => name).sort(), [
        ...["routes/layer.com", "routes/shop", "routes/supplied.com"],
      ]);
    });
    await scene.step("finds a host that appears later, in the layers or from the supplier", async () => {
      assert.equal(await answerAtOnce({ host: "late.com" }), "404");
      shelf.put(virtualHost("late.com", "late", ["late.com"]));
      await becomes("late.com", "late");
      server.config.update({ upsert: resourcesOf(virtualHost("unknown.com", "known", ["unknown.com"])) });
      await becomes("unknown.com", "known");
    });
    await scene.step("loses a host that goes away, and finds it when it comes back", async () => {
      shelf.take("virtual-host", "routes/late.com");
      await becomes("late.com", "404");
      server.config.remove({ type: "vhds", name: "routes/layer.com" });
      await becomes("layer.com", "404");
      shelf.put(virtualHost("late.com", "late again", ["late.com"]));
      await becomes("late.com", "late again");
    });
  });

  test(`Envoy's clusters on demand, ${variant}`, { timeout: 120_000 }, async (t) => {
    const shelf = new Shelf();
    const backends = new Map<string, HttpBackend>();
    const onDemand: OnDemandOptions = { types: ["cds", "eds"], supply: shelf.supply };
    const stage = await setStage(t, variant, onDemand, ({ port, source }) => [
      listener({
        name: "ingress",
        port,
        filters: [filter({ odcds: { source, timeout: "5s" } })],
        routes: {
          route_config: {
            name: "routes",
            virtual_hosts: [
              {
                name: "all",
                domains: ["*"],
                routes: [{ match: { prefix: "" }, route: { cluster_header: "x-cluster" } }],
              },
            ],
          },
        },
      }),
    ]);
    if (stage === undefined) return;
    const { scene, server, admin, source, answerAtOnce, answer } = stage;
    for (const name of ["red", "green", "blue"]) backends.set(name, await startHttpBackend(scene, name));
    const of = (name: string) => [cluster({ name, source }), loadAssignment(name, [backends.get(name)?.port ?? 0])];
    const layer = of("red");
    server.config.update({ upsert: resourcesOf(...layer) });

    await scene.step("fails at once for an unknown cluster", async () => {
      assert.equal(await answerAtOnce({ "x-cluster": "unknown" }), "503");
      assert.deepEqual(shelf.asked, ["cluster unknown"]);
    });
    await scene.step("loads a cluster of the layers, and one that is supplied, at the first request", async () => {
      assert.deepEqual([...(await admin.activeClusters()).keys()], []);
      assert.equal(await answerAtOnce({ "x-cluster": "red" }), "red");
      shelf.put(...of("green"));
      assert.equal(await answerAtOnce({ "x-cluster": "green" }), "green");
      assert.deepEqual(shelf.asked.slice(1), ["cluster green", "endpoint green"]);
      assert.deepEqual([...(await admin.activeClusters()).keys()].sort(), ["green", "red"]);
    });
    await scene.step("loads a cluster that appears later", async () => {
      assert.equal(await answerAtOnce({ "x-cluster": "blue" }), "503");
      shelf.put(...of("blue"));
      await eventually("an answer from blue", async () => (await answer({ "x-cluster": "blue" })) === "blue");
    });
    await scene.step("loses a cluster that goes away, and takes it when it comes back", async () => {
      server.config.remove({ type: "cds", name: "red" });
      await eventually("no cluster red", async () => !(await admin.activeClusters()).has("red"));
      // Envoy does not ask again for what it once had ("already subscribed to, skipping"): a request in between waits
      // for its filter's own timeout.
      server.config.update({ upsert: resourcesOf(...layer) });
      await eventually("an answer from red", async () => (await answer({ "x-cluster": "red" })) === "red");
    });
  });

  test(`Envoy's scoped routes on demand, ${variant}`, { timeout: 120_000 }, async (t) => {
    const shelf = new Shelf();
    const scope = (key: string, lazy: boolean): ResourceText => ({
      "@type": typeUrl("envoy.config.route.v3.ScopedRouteConfiguration"),
      name: key,
      route_configuration_name: key,
      on_demand: lazy,
      key: { fragments: [{ string_key: key }] },
    });
    const routes = (name: string): ResourceText => ({
      "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
      name,
      virtual_hosts: [answering("all", name)],
    });
    const stage = await setStage(t, variant, { types: ["rds"], supply: shelf.supply }, ({ port, source }) => [
      listener({
        name: "ingress",
        port,
        filters: [filter()],
        routes: {
          scoped_routes: {
            name: "scopes",
            scope_key_builder: {
              fragments: [{ header_value_extractor: { name: "x-scope", element_separator: ",", index: 0 } }],
            },
            rds_config_source: source,
            scoped_rds: { scoped_rds_config_source: source },
          },
        },
      }),
      ...[scope("eager", false), scope("lazy", true), scope("supplied", true)],
      ...[routes("eager"), routes("lazy")],
    ]);
    if (stage === undefined) return;
    const { scene, admin, answerAtOnce } = stage;

    await scene.step("has only the routes of the scopes that do not wait", async () => {
      assert.equal(await answerAtOnce({ "x-scope": "eager" }), "eager");
      assert.deepEqual([...(await admin.routes()).keys()], ["eager"]);
      assert.deepEqual(shelf.asked, []);
    });
    await scene.step("gets the routes of a scope at its first request, from the layers or supplied", async () => {
      assert.equal(await answerAtOnce({ "x-scope": "lazy" }), "lazy");
      shelf.put(routes("supplied"));
      assert.equal(await answerAtOnce({ "x-scope": "supplied" }), "supplied");
      assert.deepEqual(shelf.asked, ["route supplied"]);
      assert.deepEqual([...(await admin.routes()).keys()].sort(), ["eager", "lazy", "supplied"]);
    });
    await scene.step("answers 404 at once for an unknown scope", async () => {
      assert.equal(await answerAtOnce({ "x-scope": "none" }), "404");
    });
  });
}
