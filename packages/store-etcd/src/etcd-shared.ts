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
import { checkShared } from "@xdskit/server/tables";
import { type EtcdClient, UnknownOutcome } from "./client/etcd-client.js";
import type { Comparison, KeyValue } from "./client/messages.js";
import { EtcdSession } from "./etcd-session.js";
import { endOf, type Keys } from "./keys.js";
import type { Watching } from "./watching.js";

/** A write is tried so often while nobody knows whether it was made. */
const mostTries = 5;

const text = new TextDecoder();

/** Values that servers share: each is a key of etcd's, whose version is the revision of the store that wrote it. */
export class EtcdShared implements SharedKeys {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #watching: Watching;
  readonly #sessions = new Set<EtcdSession>();

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
    const lease = session instanceof EtcdSession ? session.lease : 0n;
    // A mark tells afterwards whether what is there was written by this call.
    const mark = randomBytes(9).toString("base64url");
    const at = this.#keys.shared(key);
    const operations = [{ kind: "put", key: at, value: `${mark}\n${value}`, lease } as const];
    const version = await this.#once({ compare: comparisonOf(at, expected), operations }, async () => {
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
    const done = await this.#once({ compare: comparisonOf(at, expected), operations }, isGone);
    this.#watching.look();
    return done !== undefined || (await isGone()) !== undefined;
  }

  async session(options: SharedSessionOptions): Promise<SharedSession> {
    const session = await EtcdSession.open(this.#client, options, {
      over: (one) => {
        this.#sessions.delete(one);
        this.#watching.look();
      },
    });
    this.#sessions.add(session);
    return session;
  }

  watch(prefix: string, listener: SharedListener): StoreWatch {
    const key = this.#keys.shared(prefix);
    let told: string | undefined;
    return this.#watching.add("shared", {
      changed: ({ shared }, isBack) => {
        const found = shared.filter((entry) => entry.key.startsWith(key));
        const now = found.map((entry) => `${entry.key} ${entry.writtenAt}`).join("\n");
        if (now === told && !isBack) return;
        told = now;
        listener.changed(found.map((entry) => this.#entryOf(entry)));
      },
      away: (finding) => listener.away(finding),
    });
  }

  /** Ends the sessions of this process. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions].map((session) => session.close()));
  }

  /**
   * Makes a transaction; resolves to the revision of the store that it made; undefined: a comparison does not hold.
   * `wasMade` is asked where an earlier try may have made it.
   */
  async #once(
    transaction: Parameters<EtcdClient["transactionOnce"]>[0],
    wasMade: () => Promise<number | undefined>,
  ): Promise<number | undefined> {
    for (let tries = 1; ; tries += 1) {
      try {
        const { succeeded, revision } = await this.#client.transactionOnce(transaction);
        if (succeeded) return revision;
        return tries > 1 ? await wasMade() : undefined;
      } catch (error) {
        if (!(error instanceof UnknownOutcome)) throw error;
        if (tries < mostTries) continue;
        const message = `nobody knows whether a shared value was written: ${error.message}`;
        throw XdskitError.of("XDSKIT_STORE", message, {}, { cause: error });
      }
    }
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
