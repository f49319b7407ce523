import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { mutated } from "../../packages/api/src/testing/mutations/mutated.js";
import { type EnvoyJudge, startEnvoyJudge } from "./corpus/envoy-judge.js";
import {
  accountOf,
  disagreementOf,
  listOf,
  oneLine,
  readDisagreements,
  readExplanations,
  tableOf,
} from "./corpus/explanations.js";
import { judgeMutants } from "./corpus/judged-mutants.js";
import { peer, root } from "./harness/basics/peers.js";

/** Enough to see each line of explained-mutants.yaml. mutants-disagree.txt is about these. */
const count = 1500;
const isOtherSeed = process.env.SEED !== undefined && process.env.SEED !== "1";

test("xdskit and a real Envoy judge mutated resources of every type alike", { timeout: 300_000 }, async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), "xdskit-corpus-files-"));
  let judge: EnvoyJudge | undefined;
  t.after(async () => {
    await judge?.close();
    await rm(folder, { recursive: true, force: true });
  });
  judge = await startEnvoyJudge(envoy);
  const { certificate, key } = createAuthority("corpus").issue("example.org");
  const mutants = mutated(count, { certificate, key, folder });
  const judged = await judgeMutants(mutants, judge);
  const own = readExplanations("explained-mutants");
  const account = accountOf(judged, [...readExplanations(), ...own]);
  console.log(tableOf(account));

  await t.test("They are of all types of resources, and Envoy takes some and refuses others", () => {
    assert.equal(mutants.length, count);
    const types = new Set(mutants.map(({ type }) => type.replace(/.*\./, "")));
    assert.deepEqual([...types].sort(), [
      ...["Cluster", "ClusterLoadAssignment", "LbEndpoint", "Listener", "RouteConfiguration"],
      ...["Runtime", "ScopedRouteConfiguration", "Secret", "TypedExtensionConfig", "VirtualHost"],
    ]);
    assert.ok(account.taken > count / 4 && account.refused > count / 4, `${account.taken} taken`);
  });

  await t.test("They disagree only in explained cases", () => {
    // Some others are so rare that only another sample has them.
    const most = isOtherSeed ? count / 200 : 0;
    assert.ok(account.unexplained.length <= most, account.unexplained.map(oneLine).join("\n"));
  });

  await t.test("They disagree exactly in the cases that are listed", { skip: isOtherSeed }, () => {
    const [listed, seen] = [readDisagreements(), listOf(account)];
    const missing = seen.filter((line) => !listed.includes(line));
    const gone = listed.filter((line) => !seen.includes(line));
    assert.deepEqual({ missing, gone }, { missing: [], gone: [] });
  });

  await t.test("Each explained case still exists, and docs/where-envoy-disagrees.md has it", async () => {
    const page = await readFile(join(root, "docs/where-envoy-disagrees.md"), "utf8");
    for (const line of own) {
      assert.ok(page.includes(line.says), line.says);
      // What ends Envoy is rare.
      const seen = account.lines.find(({ explanation }) => explanation === line)?.judged.length ?? 0;
      assert.ok(seen > 0 || line.kind === "Envoy ends" || isOtherSeed, line.says);
    }
  });

  await t.test("xdskit refuses fewer than one in 100 resources that Envoy takes", () => {
    const refused = judged.filter((each) => disagreementOf(each) === "we refuse, Envoy takes");
    // They are a handful: another sample may have twice as many by chance.
    const most = account.taken / (isOtherSeed ? 50 : 100);
    assert.ok(refused.length < most, refused.map(oneLine).join("\n"));
  });
});
