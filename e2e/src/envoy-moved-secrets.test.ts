import assert from "node:assert/strict";
import { test } from "node:test";
import { type Certificate, createAuthority } from "../../packages/api/src/testing/certificates.js";
import { someVariants } from "./harness/basics/effort.js";
import { answering, listener, typeUrl } from "./harness/basics/resources.js";
import { eventually } from "./harness/basics/wait.js";
import { type StageOptions, setStage } from "./harness/peers/stage.js";
import { handshake, startHandshakes } from "./harness/traffic/handshakes.js";

const host = "envoy.test";
const rounds = 15;

for (const variant of someVariants) {
  test(`Envoy's listener goes from secret to secret, ${variant}`, { timeout: 120_000 }, async (t) => {
    const authority = createAuthority("servers");
    /**
     * A listener, and the one secret that it names: nothing of what was there before but the listener's name and port.
     */
    const files = (name: string, { certificate, key }: Certificate): StageOptions["files"] => {
      return ({ port, source }) => ({
        "all.yaml": [
          listener({
            name: "tls",
            port,
            routes: { route_config: { name: "inline", virtual_hosts: [answering("all", name)] } },
            tls: { common_tls_context: { tls_certificate_sds_secret_configs: [{ name, sds_config: source }] } },
          }),
          {
            "@type": typeUrl("envoy.extensions.transport_sockets.tls.v3.Secret"),
            name,
            tls_certificate: {
              certificate_chain: { inline_string: certificate },
              private_key: { inline_string: key },
            },
          },
        ],
      });
    };
    const first = authority.issue(host);
    const stage = await setStage(t, { variant, service: "secret", files: files("secret-0", first) });
    if (stage === undefined) return;
    const { scene, folder, admin } = stage;
    const options = { port: stage.port, host, trusted: authority.certificate };

    await scene.step(`shows another secret in one change, ${rounds} times, without a failed handshake`, async () => {
      assert.equal(await handshake(options), first.serial);
      const handshakes = startHandshakes(scene, options);
      const started = performance.now();
      for (let round = 1; round <= rounds; round += 1) {
        const next = authority.issue(host);
        await folder.swap(files(`secret-${round}`, next)(stage));
        await eventually(`certificate ${round} at the client`, () => handshakes.serial() === next.serial, {
          everyMs: 10,
        });
        const seen = handshakes.count();
        await eventually("more handshakes", () => handshakes.count() >= seen + 20, { everyMs: 10 });
      }
      await handshakes.stop();
      const perSecond = Math.round((handshakes.count() / (performance.now() - started)) * 1_000);
      t.diagnostic(`${handshakes.count()} handshakes, ${perSecond} a second`);
      assert.deepEqual(handshakes.failures(), []);
      assert.equal(await admin.stat("listener_manager.lds.update_rejected"), 0);
    });
  });
}
