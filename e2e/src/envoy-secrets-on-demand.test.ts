import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Certificate, createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { type PeerName, peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { answering, type ClientVariant, configSource, listener, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { handshake } from "./harness/traffic/handshakes.js";
import { serve } from "./harness/xdskit/xdskit.js";

const tls = "envoy.extensions.transport_sockets.tls";

/** A certificate whose name is the host that it is for. */
const secret = (name: string, { certificate, key }: Certificate): ResourceText => ({
  "@type": typeUrl(`${tls}.v3.Secret`),
  name,
  tls_certificate: { certificate_chain: { inline_string: certificate }, private_key: { inline_string: key } },
});

/** A listener that asks for a certificate when a client names a host in its handshake. */
const listenerOnDemand = (port: number, source: Record<string, unknown>): ResourceText =>
  listener({
    name: "tls",
    port,
    routes: { route_config: { name: "inline", virtual_hosts: [answering("all", "hello")] } },
    tls: {
      // Envoy refuses a selector beside it.
      disable_stateful_session_resumption: true,
      disable_stateless_session_resumption: true,
      common_tls_context: {
        custom_tls_certificate_selector: {
          name: "on-demand",
          typed_config: {
            "@type": typeUrl(`${tls}.cert_selectors.on_demand_secret.v3.Config`),
            config_source: source,
            certificate_mapper: {
              name: "sni",
              typed_config: { "@type": typeUrl(`${tls}.cert_mappers.sni.v3.SNI`), default_value: "none.test" },
            },
          },
        },
      },
    },
  });

const peers: readonly (readonly [peer: PeerName, ...variants: readonly ClientVariant[]])[] = [
  ["envoy-1.37", "per-type-delta"],
  ["envoy-1.38", "ads-delta"],
  ["envoy", "ads-delta", "per-type-delta", "ads-sotw"],
];
const all = 50;

for (const [name, ...variants] of peers) {
  for (const variant of variants) {
    test(`the secrets that an Envoy asks for on demand, ${name}, ${variant}`, { timeout: 90_000 }, async (t) => {
      const path = peer(name, t);
      if (path === undefined) return;
      const scene = await createScene(t);
      const authority = createAuthority("servers");
      const some = authority.issue("h1.test", "DNS:h1.test", "DNS:h2.test");
      const hosts = Array.from({ length: all }, (_, index) => `h${index}.test`);
      const port = await freePort();
      const folder = await createConfigFolder(scene.directory, {
        "listeners.yaml": [listenerOnDemand(port, configSource(variant))],
        "secrets.yaml": hosts.map((host) => secret(host, some)),
      });
      const server = await serve(scene, folder.path);
      await startEnvoy(scene, { path, server: server.grpc, variant, withinMs: 12_000 });
      const shown = (host: string) => handshake({ port, host, trusted: authority.certificate });
      const sent = () => metric(server.admin, "xdskit_response_resources_total", { type: "secret" });

      await scene.step("gets the one secret that a handshake needs, once, and no others", async () => {
        assert.equal(await sent(), 0);
        assert.equal(await shown("h1.test"), some.serial);
        assert.equal(await sent(), 1);
        assert.equal(await shown("h2.test"), some.serial);
        assert.equal(await shown("h1.test"), some.serial);
        assert.equal(await sent(), 2);
      });

      const late = authority.issue("late.test");
      const put = (certificate: Certificate) => folder.put({ "late.yaml": [secret("late.test", certificate)] });
      if (variant.endsWith("delta")) {
        await scene.step(
          "fails a handshake at once for which there is no secret, and takes one that comes",
          async () => {
            const started = performance.now();
            await assert.rejects(shown("late.test"), (error: Error) => !/no answer/.test(error.message));
            assert.ok(performance.now() - started < 4_000);
            await put(late);
            await eventually("the secret that came", async () => (await shown("late.test")) === late.serial);
          },
        );
      } else {
        await scene.step("lets a handshake wait for which there is no secret, until it comes", async () => {
          const waits = shown("late.test");
          await sleep(500);
          await put(late);
          assert.equal(await waits, late.serial);
        });
      }

      await scene.step("takes a new content of a secret that it uses", async () => {
        const next = authority.issue("late.test");
        await put(next);
        await eventually("the new content", async () => (await shown("late.test")) === next.serial);
      });
    });
  }
}
