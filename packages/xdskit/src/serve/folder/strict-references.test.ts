import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { SourceStatus } from "@xdskit/admin/listener";
import { eventually } from "../../testing/command.js";
import { clusterYaml, routesYaml, type TestFolder, testFolder } from "../../testing/folder.js";
import { inProcessEnds, type RunningServer, servesHere } from "../../testing/in-process.js";

const anyPorts = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
const serving = (folder: TestFolder, ...options: readonly string[]): RunningServer =>
  servesHere("serve", folder.path, "--settle", "20ms", ...anyPorts, ...options);

async function admin(running: RunningServer): Promise<string> {
  await running.seen(/^ready$/m);
  const [, found = ""] = await running.seen(/^admin listening on (\S+)$/m);
  return `http://${found}`;
}

async function statusOf(running: RunningServer): Promise<SourceStatus> {
  const answer = await fetch(`${await admin(running)}/api/v1/sources`);
  const { sources } = (await answer.json()) as { readonly sources: readonly SourceStatus[] };
  return sources[0] as SourceStatus;
}

const off = ["--state", "off"] as const;
const typo = `# The routes\n${routesYaml("reviews-v2")}`;
/** Of the field with the name: `routesYaml` is one line for each part. */
const lineOf = (text: string): number => text.slice(0, text.indexOf("reviews-v2")).split("\n").length;
const place = new RegExp(`routes\\.yaml:${lineOf(typo)}:\\d+: route "routes".*names cluster "reviews-v2"`);

describe("references: strict", { concurrency: true }, () => {
  it("refuses a typo in a cluster's name, with the line of the field in the log and for the page, until it is mended", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a"),
      "routes.yaml": routesYaml("a"),
      "xdskit.yaml": "references: strict\n",
    });
    await using running = serving(folder, ...off);
    await admin(running);
    await folder.write("routes.yaml", typo);
    const [text] = await running.seen(new RegExp(`.*${place.source}.*`), "err");
    assert.match(text, /which group all lacks; .*references_except.*\[XDSKIT_DANGLING_REFERENCE\]/);
    const { state, findings } = await eventually(
      () => statusOf(running),
      ({ state }) => state === "refused",
    );
    const [finding] = findings;
    assert.deepEqual(
      [state, finding?.severity, finding?.file, finding?.line],
      ["refused", "error", join(folder.path, "routes.yaml"), lineOf(typo)],
    );
    // A name that the bootstrap has, say: the settings are read again, and the change is tried again.
    await folder.write("xdskit.yaml", "references: strict\nreferences_except: [reviews-v2]\n");
    await running.seen(/configuration applied: 1 resource/, "err");
    assert.deepEqual((await statusOf(running)).findings, []);
  });

  it("refuses it over the API and for apply, also as a dry run", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using own = await testFolder({ "routes.yaml": typo });
    await using state = await testFolder();
    await using running = serving(folder, "--references", "strict", "--state", state.path);
    const server = await admin(running);
    for (const dry of [["--dry-run"], []]) {
      const { status, err, out } = await inProcessEnds("apply", "-f", own.path, "--server", server, ...dry);
      assert.equal(status, 1, out);
      assert.match(err, /routes\.yaml:\d+:\d+: .*names cluster "reviews-v2", which group all lacks/);
    }
    const listed = await fetch(`${server}/api/v1/layers/api/resources`);
    assert.deepEqual(((await listed.json()) as { readonly resources: unknown }).resources, []);
    await own.write("cluster.yaml", clusterYaml("reviews-v2"));
    const { status, err } = await inProcessEnds("apply", "-f", own.path, "--server", server);
    assert.equal(status, 0, err);
  });

  it("does not start with it, as validate ends with 1, and starts with an excepted name", async () => {
    await using folder = await testFolder({ "routes.yaml": typo, "xdskit.yaml": "references: strict\n" });
    const { status, out } = await inProcessEnds("validate", folder.path);
    assert.equal(status, 1);
    assert.match(out, new RegExp(`${place.source}, which does not exist`));
    for (const state of ["off", join(folder.path, ".state")]) {
      const started = await inProcessEnds("serve", folder.path, "--state", state, ...anyPorts);
      assert.equal(started.status, 2, started.out);
      assert.match(started.err, place);
    }
    await folder.write("xdskit.yaml", "references: strict\nreferences_except: [reviews-v2]\n");
    assert.equal((await inProcessEnds("validate", "--strict", folder.path)).status, 0);
    await using running = serving(folder, ...off);
    assert.deepEqual((await statusOf(running)).findings, []);
  });

  it("a restart serves the last good revision instead of a typo, and what was there before is no news", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "routes.yaml": routesYaml("old-typo") });
    await using state = await testFolder();
    const start = (word: string) => serving(folder, "--references", word, "--state", state.path);
    {
      await using first = start("warn");
      await first.seen(/names cluster "old-typo", which does not exist/, "err");
      await admin(first);
    }
    {
      await using second = start("strict");
      assert.equal((await statusOf(second)).state, "applied");
    }
    await folder.write("routes.yaml", typo);
    await using third = start("strict");
    assert.ok((await statusOf(third)).restored);
    await third.seen(place, "err");
  });

  it("warns with the line of the field where names are let in", async () => {
    await using folder = await testFolder({ "routes.yaml": typo });
    await using running = serving(folder, ...off);
    await running.seen(place, "err");
    const { findings } = await statusOf(running);
    assert.deepEqual([findings[0]?.severity, findings[0]?.line], ["warning", lineOf(typo)]);
  });
});
