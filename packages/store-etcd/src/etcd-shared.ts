import { randomBytes } from "node:crypto";
import { XdskitError } from "@xdskit/api";
import type {
  SharedEntry,
  SharedKeys,
  SharedListener,
  SharedPut,
  SharedSession,
  SharedSessionOptions,
  SharedVersion,
  StoreWatch,
} from "@xdskit/server";
import { checkShared, LiveSession } from "@xdskit/server/tables";
import type { EtcdClient } from "./client/etcd-client.js";
import type { Comparison, KeyValue } from "./client/messages.js";
import { endOf, type Keys } from "./keys.js";
import { onceMade } from "./once-made.js";
import type { Watching } from "./watching.js";

const what = "a shared value";
const text = new TextDecoder();

/** Values that servers share: each is a key of etcd's, whose version is the revision of the store that wrote it. */
export class EtcdShared implements SharedKeys {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #watching: Watching;
  readonly #sessions = new Set<LiveSession>();

  constructor(client: EtcdClient, keys: Keys, watching: Watching) {
    this.#client = client;
    this.#keys = keys;
    this.#watching = watching;
  }

  async list(prefix: string): Promise<readonly SharedEntry[]> {
    const key = this.#keys.shared(prefix);
    const { found } = await this.#client.range({ key, end: endOf(key) });
    return found.map((entry) => this.#entryOf(entry));
  }

  async put({ key, value, expected, session }: SharedPut): Promise<SharedVersion | undefined> {
    checkShared(key, value);
    if (session?.isOver === true) throw XdskitError.of("XDSKIT_STORE", "its session is over");
    const lease = session === undefined ? 0n : BigInt(`0x${session.id}`);
    // A mark tells afterwards whether what is there was written by this call.
    const mark = randomBytes(9).toString("base64url");
    const at = this.#keys.shared(key);
    const operations = [{ kind: "put", key: at, value: `${mark}\n${value}`, lease } as const];
    const transaction = { compare: comparisonOf(at, expected), operations };
    const version = await onceMade(this.#client, transaction, what, async () => {
      const [found] = (await this.#client.range({ key: at })).found;
      return found !== undefined && text.decode(found.value).startsWith(`${mark}\n`) ? found.writtenAt : undefined;
    });
    this.#watching.look();
    return version === undefined ? undefined : `${version}`;
  }

  async remove(key: string, expected: SharedVersion | "any"): Promise<boolean> {
    const at = this.#keys.shared(key);
    const isGone = async () => ((await this.#client.range({ key: at })).found.length === 0 ? 1 : undefined);
    const operations = [{ kind: "delete", key: at } as const];
    const transaction = { compare: comparisonOf(at, expected), operations };
    const done = await onceMade(this.#client, transaction, what, isGone);
    this.#watching.look();
    return done !== undefined || (await isGone()) !== undefined;
  }

  async session(options: SharedSessionOptions): Promise<SharedSession> {
    const { ttlMs } = options;
    const now = () => performance.now();
    const asked = now();
    const lease = await this.#client.grantLease(Math.ceil(ttlMs / 1_000));
    const renew = async () => (await this.#client.keepAlive(lease, ttlMs / 3)) > 0;
    const end = () => this.#client.revokeLease(lease);
    const session = new LiveSession({ id: lease.toString(16), now, renew, end }, asked, options, () => {
      this.#sessions.delete(session);
      this.#watching.look();
    });
    this.#sessions.add(session);
    return session;
  }

  watch(prefix: string, listener: SharedListener): StoreWatch {
    return this.#watching.add(
      { of: "shared", prefix: this.#keys.shared(prefix) },
      {
        entriesChanged: (entries) => listener.entriesChanged(entries.map((entry) => this.#entryOf(entry))),
        away: (finding) => listener.away(finding),
      },
    );
  }

  /** Ends the sessions of this process. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions].map((session) => session.close()));
  }

  #entryOf({ key, value, writtenAt }: KeyValue): SharedEntry {
    const written = text.decode(value);
    const name = key.slice(this.#keys.shared().length);
    return { key: name, value: written.slice(written.indexOf("\n") + 1), version: `${writtenAt}` };
  }
}

function comparisonOf(key: string, expected: SharedVersion | undefined | "any"): readonly Comparison[] {
  if (expected === "any") return [];
  return [expected === undefined ? { key, value: undefined } : { key, writtenAt: Number(expected) }];
}
