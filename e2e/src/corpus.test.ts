import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { configurableExtensions, corpus } from "../../packages/api/src/testing/corpus/index.js";
import { isHidden, type Rewritten, rewrittenIn, shown } from "./corpus/dump.js";
import { type EnvoyJudge, startEnvoyJudge } from "./corpus/envoy-judge.js";
import { accountOf, disagreementOf, explanationOf, oneLine, readExplanations, tableOf } from "./corpus/explanations.js";
import { judgeAll } from "./corpus/judged.js";
import { sampleOf } from "./corpus/sample.js";
import { peer, root } from "./harness/basics/peers.js";

test("xdskit and a real Envoy judge a sample of the corpus alike", { timeout: 600_000 }, async (t) => {
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
  const explanations = readExplanations();
  const cases = sampleOf(corpus({ certificate, key, folder }), explanations);
  const rewritten: Rewritten[] = [];
  const compare: Parameters<typeof judgeAll>[2] = async (taken, admin) => {
    rewritten.push(...(await rewrittenIn(taken, admin)));
  };
  const judged = await judgeAll(cases, judge, compare);
  const account = accountOf(judged, explanations);
  console.log(tableOf(account));

  await t.test("xdskit and Envoy disagree only in explained cases", () => {
    assert.deepEqual(account.unexplained.map(oneLine), []);
  });

  await t.test("each explained case still exists", () => {
    const byName = new Map(judged.map((each) => [each.of.name, each]));
    for (const line of explanations) {
      const example = byName.get(line.example ?? "");
      assert.ok(example, `the corpus has no ${line.example}`);
      const kind = disagreementOf(example);
      assert.equal(kind, line.kind, oneLine(example));
      assert.equal(explanationOf(example, line.kind, explanations), line, oneLine(example));
    }
  });

  await t.test("docs/where-envoy-disagrees.md has each explanation", async () => {
    const page = await readFile(join(root, "docs/where-envoy-disagrees.md"), "utf8");
    for (const { says } of explanations) assert.ok(page.includes(says), says);
  });

  await t.test("xdskit refuses fewer than one in 200 resources that Envoy takes", () => {
    const refused = judged.filter((each) => disagreementOf(each) === "we refuse, Envoy takes");
    // The examples of what is refused are in each sample.
    const examples = explanations.filter(({ kind }) => kind === "we refuse, Envoy takes").length;
    assert.ok(refused.length - examples < account.taken / 200, refused.map(oneLine).join("\n"));
  });

  await t.test("Envoy has what was sent, but for what it hides", async () => {
    const taken = judged.filter(({ of, envoys }) => of.breaks === undefined && envoys.is === "taken");
    const wrapped = taken.flatMap(({ of }, index) => shown(of, index) ?? []);
    await judgeAll(wrapped, judge!, compare);
    assert.ok(rewritten.some(isHidden));
    assert.deepEqual(
      rewritten
        .filter((each) => !isHidden(each))
        .map(({ of, path, sent, given }) => `${of.name}: ${path} is ${given}, not ${sent}`),
      [],
    );
  });

  await t.test("the extensions of the corpus are those that Envoy has", async () => {
    const response = await fetch(`http://${judge!.admin()}/server_info`, { signal: AbortSignal.timeout(20_000) });
    const { node } = (await response.json()) as { readonly node: { readonly extensions: readonly EnvoyExtension[] } };
    const compiled = node.extensions.flatMap(({ category, name, type_urls = [] }) =>
      type_urls.map((type) => `${category} ${name} ${type}`),
    );
    const known = [...configurableExtensions()].flatMap(([category, members]) =>
      members.map(({ name, type }) => `${category} ${name} ${type}`),
    );
    assert.deepEqual(known.sort(), compiled.sort());
  });
});

interface EnvoyExtension {
  readonly category: string;
  readonly name: string;
  readonly type_urls?: readonly string[];
}
