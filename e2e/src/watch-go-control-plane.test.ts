import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { isLong } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startGoControlPlane } from "./harness/peers/go-control-plane.js";
import { xdskitCommand } from "./harness/xdskit/xdskit.js";

const cluster = (name: string, content: string, more: Record<string, unknown> = {}): ResourceText => ({
  "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
  name,
  alt_stat_name: content,
  ...more,
});

interface Line {
  readonly event: string;
  readonly name?: string;
  readonly nack?: boolean;
  readonly resource?: { readonly altStatName?: string; readonly alt_stat_name?: string };
}

const shown = ({ event, name = "", resource }: Line): string =>
  `${event} ${name} ${resource?.altStatName ?? resource?.alt_stat_name ?? ""}`.trim();

for (const cache of ["snapshot", "linear"] as const) {
  for (const variant of ["sotw", "delta"] as const) {
    // Half of the pairs have both of each choice.
    const onAds = (cache === "snapshot") === (variant === "sotw");
    for (const ads of isLong ? [true, false] : [onAds]) {
      const how = `${variant}, ${ads ? "ADS" : "per type"}`;
      test(`xdskit get and watch against go-control-plane's ${cache} cache, ${how}`, {
        timeout: 120_000,
      }, async (t) => {
        const program = peer("go-control-plane-server", t);
        if (program === undefined) return;
        const scene = await createScene(t);
        const server = await startGoControlPlane(scene, program, { cache, ads: false });
        await server.set("1", [cluster("a", "1"), cluster("b", "1")]);
        const { command, args } = xdskitCommand();
        const asked = [
          "--server",
          server.address,
          "--variant",
          variant,
          ...(ads ? ["--ads"] : []),
          "--type",
          "cluster",
        ];
        const start = (verb: string, ...more: string[]) =>
          scene.start({
            name: `xdskit ${verb}`,
            command,
            args: [...args, verb, ...asked, ...more, "--output", "jsonl"],
          });
        const linesOf = (process: { readonly stdout: readonly string[] }) =>
          process.stdout.map((line): Line => JSON.parse(line) as Line);

        await scene.step("get prints all resources, one, and the error for a missing one", async () => {
          const all = start("get");
          assert.deepEqual(await all.ended, { code: 0, signal: null });
          const found = linesOf(all).filter(({ event }) => event === "upsert");
          assert.deepEqual(found.map(shown).sort(), ["upsert a 1", "upsert b 1"]);
          const one = start("get", "b");
          assert.deepEqual(await one.ended, { code: 0, signal: null });
          assert.ok(linesOf(one).map(shown).includes("upsert b 1"));
          if (variant === "delta" || cache === "linear") {
            const none = start("get", "none", "--timeout", "5s");
            assert.notEqual((await none.ended).code, 0);
          }
        });

        await scene.step("watch shows existing, changed, removed and bad resources", async () => {
          const watch = start("watch", "--validate", "full");
          const has = (...wanted: readonly string[]) =>
            eventually(`${wanted.join(", ")}; printed ${linesOf(watch).map(shown).join(", ")}`, () => {
              const lines = linesOf(watch).map(shown);
              return wanted.every((one) => lines.includes(one));
            });
          await has("connected", "upsert a 1", "upsert b 1");
          await server.set("2", [cluster("a", "2"), cluster("c", "2")]);
          await has("upsert a 2", "upsert c 2", "delete b");
          await server.set("3", [cluster("a", "3", { connect_timeout: "-1s" }), cluster("c", "2")]);
          await eventually("the rejection", () =>
            linesOf(watch).some(({ event, nack }) => event === "error" && nack === true),
          );
          await eventually("the server sees it", () => server.events().some(({ error = "" }) => error !== ""));
          await server.set("4", [cluster("a", "4"), cluster("c", "2")]);
          await has("upsert a 4");
          assert.deepEqual(await watch.stop("SIGTERM"), { code: 0, signal: null });
        });
      });
    }
  }
}
