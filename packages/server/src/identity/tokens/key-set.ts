import { readFile, stat } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";

/** How often a file is looked at, and how often a URL is read again, in milliseconds. */
const pace = { file: 1_000, url: 5 * 60_000 } as const;

/** A token with an unknown key makes a URL be read again, but not more often than this, in milliseconds. */
const cooldownMs = 10_000;

/** The most that a set may be, in bytes, and the longest time that reading it may take. */
const most = { bytes: 1024 * 1024, ms: 10_000 } as const;

/**
 * The public keys of an issuer: a file, or an `https:` URL. They are read again, and the last good ones stay while
 * there are no new ones.
 */
export class KeySet {
  readonly #where: string;
  readonly #isUrl: boolean;
  #get: JWTVerifyGetKey | undefined;
  #text: string | undefined;
  #seen: string | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** Why the newest set cannot be used; undefined: it can. */
  problem: string | undefined;
  /** Counts the sets that were taken: a token that an earlier one verified must be verified again. */
  version = 0;

  constructor(where: string) {
    this.#where = where;
    this.#isUrl = /^https:/i.test(where);
  }

  /** Whether it is time to look for new keys. */
  get isDue(): boolean {
    return this.#get === undefined || performance.now() - this.#readAt >= (this.#isUrl ? pace.url : pace.file);
  }

  /** Reads the keys again if it is time; all callers of the same moment share one look. Never rejects. */
  async refresh(leastMs?: number): Promise<void> {
    if (this.#reading !== undefined) return await this.#reading;
    const age = performance.now() - this.#readAt;
    if (leastMs !== undefined ? age < leastMs : !this.isDue) return;
    // Without any keys, each caller would ask again.
    if (this.#isUrl && this.#get === undefined && age < 1_000) return;
    this.#readAt = performance.now();
    this.#reading = this.#read();
    await this.#reading;
    this.#reading = undefined;
  }

  /** Finds the key of a token by its `kid`. Rejects if there is none. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const { errors } = await import("jose");
    if (typeof header.kid !== "string" || header.kid === "") throw new errors.JWKSNoMatchingKey("the token has no kid");
    await this.refresh();
    try {
      return await this.#findNow(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.refresh(this.#isUrl ? cooldownMs : pace.file);
      return await this.#findNow(header, token);
    }
  };

  async #findNow(...[header, token]: Parameters<JWTVerifyGetKey>) {
    if (this.#get === undefined) throw new Error(`there are no keys: ${this.problem ?? "not read yet"}`);
    return await this.#get(header, token);
  }

  async #read(): Promise<void> {
    try {
      const text = this.#isUrl ? await readUrl(this.#where) : await this.#readFile();
      if (text === undefined || text === this.#text) {
        if (text !== undefined) this.problem = undefined;
        return;
      }
      this.#get = await keysIn(text);
      this.#text = text;
      this.version += 1;
      this.problem = undefined;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
      this.#seen = undefined;
    }
  }

  /** Undefined: it is as it was. */
  async #readFile(): Promise<string | undefined> {
    const { mtimeMs, size, ino } = await stat(this.#where);
    if (size > most.bytes) throw new Error(`it has more than ${most.bytes} bytes`);
    const seen = `${ino} ${size} ${mtimeMs}`;
    if (seen === this.#seen) return undefined;
    const text = await readFile(this.#where, "utf8");
    this.#seen = seen;
    return text;
  }
}

async function keysIn(text: string): Promise<JWTVerifyGetKey> {
  const set = JSON.parse(text) as JSONWebKeySet;
  if (!Array.isArray(set?.keys) || set.keys.length === 0) throw new Error("it is no JWKS with keys");
  // A shared secret has no place among public keys.
  const keys = set.keys.filter(({ kty }) => kty !== "oct");
  if (keys.length === 0) throw new Error("it has no public key");
  const { createLocalJWKSet } = await import("jose");
  return createLocalJWKSet({ keys });
}

async function readUrl(url: string): Promise<string> {
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(most.ms) });
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    if (text.length > most.bytes) throw new Error(`it has more than ${most.bytes} bytes`);
  }
  return text + decoder.decode();
}
