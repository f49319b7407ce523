import assert from "node:assert/strict";
import { test } from "node:test";
import { createServer, type XdsServer } from "@xdskit/server";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { answering, configSource, httpListener, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { get } from "./harness/traffic/traffic.js";
import { resourcesOf } from "./harness/xdskit/library.js";

const onDemand = {
  name: "envoy.filters.http.on_demand",
  typed_config: { "@type": typeUrl("envoy.extensions.filters.http.on_demand.v3.OnDemand") },
};

/** `routes/<domain>`, the name under which Envoy asks for a host; it answers with that domain. */
const virtualHost = (domain: string): ResourceText => {
  const name = `routes/${domain}`;
  return {
    "@type": typeUrl("envoy.service.discovery.v3.Resource"),
    name,
    resource: { "@type": typeUrl("envoy.config.route.v3.VirtualHost"), ...answering(name, domain, [domain]) },
  };
};

const all = 200;

async function start(resources: readonly ResourceText[], grpc = "127.0.0.1:0") {
  const server = createServer({});
  server.config.set(resourcesOf(...resources));
  const address = (await server.listen({ grpc })).grpc;
  return { server, address };
}

/** The virtual hosts that clients have from the server, and whether one of them asks for all. */
function hostsSent(server: XdsServer): { readonly all: boolean; readonly resources: number } | undefined {
  const types = server.nodes().flatMap(({ streams }) => streams.flatMap((stream) => stream.types));
  const hosts = types.find(({ type }) => type === "virtual-host");
  return hosts && { all: hosts.wildcard, resources: hosts.resources };
}

for (const name of ["envoy", "envoy-1.37"] as const) {
  for (const variant of ["ads-delta", "per-type-delta"] as const) {
    test(`the virtual hosts of an Envoy that comes back, ${name}, ${variant}`, { timeout: 60_000 }, async (t) => {
      const path = peer(name, t);
      if (path === undefined) return;
      const scene = await createScene(t);
      const source = configSource(variant);
      const port = await freePort();
      const resources: readonly ResourceText[] = [
        httpListener({ name: "ingress", port, routeName: "routes", source, filters: [onDemand] }),
        {
          "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
          name: "routes",
          vhds: { config_source: source },
        },
        virtualHost("Big.Example"),
        ...Array.from({ length: all }, (_, index) => virtualHost(`h${index}.com`)),
      ];
      const first = await start(resources);
      scene.onEnd(() => first.server.close({ timeoutMs: 0 }));
      await startEnvoy(scene, { path, server: first.address, variant });
      const answer = async (host: string) => {
        const { status, body } = await get(port, { headers: { host } });
        return status === 200 ? body : String(status);
      };
      await scene.step("has the two hosts that it was asked for", async () => {
        assert.equal(await answer("h1.com"), "h1.com");
        // Envoy asks for a host in small letters.
        assert.equal(await answer("H2.cOm"), "h2.com");
      });
      await first.server.close({ timeoutMs: 0 });
      const second = await start(resources, first.address);
      scene.onEnd(() => second.server.close({ timeoutMs: 500 }));
      await scene.step("has two after a reconnect, and gets a third when it is asked for it", async () => {
        await eventually("its virtual hosts", async () => hostsSent(second.server) !== undefined);
        assert.deepEqual(hostsSent(second.server), { all: false, resources: 2 });
        assert.equal(await answer("big.example"), "Big.Example");
        assert.equal(await answer("h1.com"), "h1.com");
        assert.deepEqual(hostsSent(second.server), { all: false, resources: 3 });
      });
    });
  }
}
