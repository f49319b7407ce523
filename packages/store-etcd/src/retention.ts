import type { Retention, Revision, RevisionId } from "@xdskit/server";
import { contentKey, isKept } from "@xdskit/server/tables";
import { AheadWriter, lostValue } from "./ahead-writer.js";
import type { EtcdClient } from "./client/etcd-client.js";
import type { KeyValue, Operation, Transaction } from "./client/messages.js";
import { eachAtOnce, inParts } from "./in-parts.js";
import { endOf, type Keys } from "./keys.js";
import { type Manifests, missingRevision } from "./manifests.js";
import { maxTries } from "./once-made.js";

const text = new TextDecoder();
/** The most keys to list with one request. */
const pageKeys = 10_000;
/** This many writers that lost a race leave enough to collect: that costs all revisions. */
const maxLost = 20;

/**
 * Removes the revisions that retention does not keep, and everything that no revision needs: theirs, and what writers
 * left that died before their commit. Resolves to how many revisions went.
 *
 * A writer may be at work meanwhile. It relies on nothing but what the head holds, and what it writes itself is younger
 * than its mark: so all that is older than the oldest mark, and no revision needs, can go.
 */
export async function collect(
  client: EtcdClient,
  keys: Keys,
  manifests: Manifests,
  retention: Retention,
): Promise<number> {
  const marks = await listed(client, keys.ahead(""), false);
  const living = new Set((await listed(client, keys.writer(""))).found.map(({ key }) => key.split("/").at(-1)));
  const isAlive = ({ key }: KeyValue) => living.has(key.split("/").at(-1));
  const dead = marks.found.filter((mark) => !isAlive(mark));
  const hasDied = dead.some(({ value }) => text.decode(value) !== lostValue);
  if (!hasDied && dead.length < maxLost && !(await isWorthIt(client, keys, manifests, retention))) return 0;
  // First: a writer that was taken for dead, and goes on, must not commit what is collected now.
  await eachAtOnce(dead, ({ key }) => client.transaction({ compare: [], operations: [{ kind: "delete", key }] }));
  const lines = await histories(client, keys, manifests);
  const old = lines.flatMap((line) => oldIn(line, retention));
  if (old.length === 0 && dead.length === 0) return 0;
  if (old.length > 0) await keepReadable(client, keys, manifests, lines, new Set(old.map(({ id }) => id)));
  await eachAtOnce(old, ({ layer, number, id }) => forget(client, keys, layer, number, id));
  const bound = Math.min(marks.revision, ...marks.found.filter(isAlive).map(({ writtenAt }) => writtenAt - 1));
  const kept = lines.flat().filter((revision) => !old.includes(revision));
  await sweep(client, keys, manifests, kept, bound);
  return old.length;
}

/**
 * Whether enough is old. To collect costs all revisions: where many are kept it waits for one in a hundred of them, and
 * a change pays for a part of it only.
 */
async function isWorthIt(client: EtcdClient, keys: Keys, manifests: Manifests, retention: Retention): Promise<boolean> {
  const enough = 1 + Math.floor((retention.revisions + (retention.leases ?? 0)) / 100);
  const heads = (await listed(client, keys.heads(), false)).found;
  const answers = await eachAtOnce(heads, async ({ value }) => {
    const head = await manifests.revision(text.decode(value));
    if (head === undefined) return false;
    const key = keys.history(head.layer);
    const oldest = (await client.range({ key, end: endOf(key), limit: enough + 1 })).found;
    const [one, next] = await eachAtOnce(oldest.slice(enough - 1), ({ value }) =>
      manifests.revision(text.decode(value)),
    );
    return one !== undefined && !isKept(retention, head, one, next);
  });
  return answers.includes(true);
}

/** The revisions of each layer, oldest first. */
async function histories(client: EtcdClient, keys: Keys, manifests: Manifests): Promise<readonly Revision[][]> {
  const heads = (await listed(client, keys.heads())).found;
  return await eachAtOnce(heads, ({ key }) => historyOf(client, keys, manifests, key));
}

/** Never without the newest revision: what a layer holds would be taken for useless. Rejects if that is missing. */
async function historyOf(client: EtcdClient, keys: Keys, manifests: Manifests, headKey: string): Promise<Revision[]> {
  let newest: RevisionId = "";
  for (let tries = 0; tries < maxTries; tries += 1) {
    newest = text.decode((await client.range({ key: headKey })).found[0]?.value);
    const head = await manifests.revision(newest);
    if (head === undefined) continue;
    const ids = (await listed(client, keys.history(head.layer), false)).found.map(({ value }) => text.decode(value));
    newest = ids.at(-1) ?? newest;
    const revisions = await eachAtOnce(ids, (id) => manifests.revision(id));
    // Else another server has moved the head since, and collected this one.
    if (revisions.at(-1) !== undefined) return revisions.flatMap((revision) => revision ?? []);
  }
  throw missingRevision(newest);
}

function oldIn(revisions: readonly Revision[], retention: Retention): readonly Revision[] {
  const head = revisions.at(-1);
  if (head === undefined) return [];
  const firstKept = revisions.findIndex((one, at) => isKept(retention, head, one, revisions[at + 1]));
  return revisions.slice(0, firstKept);
}

/** A head is read from a checkpoint: where the last one would go, another one is made of the head. */
async function keepReadable(
  client: EtcdClient,
  keys: Keys,
  manifests: Manifests,
  lines: readonly (readonly Revision[])[],
  gone: ReadonlySet<RevisionId>,
): Promise<void> {
  const whole = await wholeCheckpoints(client, keys);
  for (const line of lines) {
    const head = line.at(-1);
    if (head === undefined || !line.some(({ id }) => gone.has(id))) continue;
    if (line.some(({ id }) => !gone.has(id) && whole.has(id))) continue;
    const entries = [...(await manifests.copyOf(head)).values()];
    await new AheadWriter(client, keys).checkpoint(head.id, entries);
  }
}

/** The revisions that have a checkpoint with its first part, which is written last. There are few. */
async function wholeCheckpoints(client: EtcdClient, keys: Keys): Promise<ReadonlySet<RevisionId>> {
  const all = keys.checkpoint("").slice(0, -1);
  const ids = (await listed(client, all)).found.map(({ key }) => [key, nameIn(all, key)] as const);
  return new Set(ids.filter(([key, id]) => key === keys.checkpoint(id, 0)).map(([, id]) => id));
}

/** The first part of a key behind its prefix. */
function nameIn(prefix: string, key: string): string {
  return key.slice(prefix.length).split("/", 1)[0] ?? "";
}

async function forget(client: EtcdClient, keys: Keys, layer: string, number: number, id: RevisionId): Promise<void> {
  const all = (key: string): Operation => ({ kind: "delete", key, end: endOf(key) });
  await client.transaction({
    compare: [{ key: keys.history(layer, number), value: id }],
    operations: [
      { kind: "delete", key: keys.history(layer, number) },
      { kind: "delete", key: keys.revision(id) },
      all(keys.changes(id)),
      all(keys.checkpoint(id)),
    ],
  });
}

/** Removes all keys that no revision needs, and that were not written after `bound`. */
async function sweep(
  client: EtcdClient,
  keys: Keys,
  manifests: Manifests,
  kept: readonly Revision[],
  bound: number,
): Promise<void> {
  const ids = new Set(kept.map(({ id }) => id));
  const contents = await neededContents(manifests, kept);
  const useless: KeyValue[] = [];
  for (const [prefix, needed] of [
    [keys.contents(), contents],
    [keys.revision(""), ids],
    [keys.changes("").slice(0, -1), ids],
    [keys.checkpoint("").slice(0, -1), ids],
  ] as const) {
    for (const one of (await listed(client, prefix)).found)
      if (one.writtenAt <= bound && !needed.has(nameIn(prefix, one.key))) useless.push(one);
  }
  // One by one: a key that was written meanwhile stays, and the others go.
  await eachAtOnce(
    inParts(useless, () => 1),
    async (part) => {
      await eachAtOnce(part, ({ key, writtenAt }) => client.transaction(removalOf(key, writtenAt)));
    },
  );
}

function removalOf(key: string, writtenAt: number): Transaction {
  return { compare: [{ key, writtenAt }], operations: [{ kind: "delete", key }] };
}

/** What the heads hold, and what kept revisions replaced: so each of them can be read. */
async function neededContents(manifests: Manifests, kept: readonly Revision[]): Promise<ReadonlySet<string>> {
  const needed = new Set<string>();
  const heads = new Map(kept.map((revision) => [revision.layer, revision]));
  for (const head of heads.values())
    for (const entry of (await manifests.copyOf(head)).values())
      needed.add(contentKey(entry.type, entry.key, entry.version));
  const changes = await eachAtOnce(kept, ({ id }) => manifests.changes(id));
  for (const change of changes.flat())
    if (change.from !== undefined) needed.add(contentKey(change.type, change.key, change.from));
  return needed;
}

/** All keys that begin so, with the store's revision of that moment. */
async function listed(client: EtcdClient, prefix: string, keysOnly = true) {
  const found: KeyValue[] = [];
  const end = endOf(prefix);
  let key = prefix;
  let at = 0;
  for (;;) {
    const page = await client.range({ key, end, limit: pageKeys, keysOnly, at });
    at ||= page.revision;
    found.push(...page.found);
    const last = page.found.at(-1);
    if (!page.more || last === undefined) return { found, revision: at };
    key = `${last.key}\u0000`;
  }
}
