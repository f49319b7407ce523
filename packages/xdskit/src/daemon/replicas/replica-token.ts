import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Finding } from "@xdskit/api";
import type { SharedKeys } from "@xdskit/server";

const key = "replicas/token";

/** The token that the servers of a store show each other: a server that can read the store may ask. */
export class ReplicaToken {
  readonly #shared: SharedKeys;
  readonly #problem: (finding: Finding) => void;
  #value = randomBytes(32).toString("base64url");
  #isOfStore = false;
  #restoring: Promise<void> | undefined;

  /** Nobody knows it before it is that of the store: see `restore`. */
  constructor(shared: SharedKeys, problem: (finding: Finding) => void) {
    this.#shared = shared;
    this.#problem = problem;
  }

  get value(): string {
    return this.#value;
  }

  /**
   * Takes that of the store; the first server makes it. Later it puts its own back where the store has lost it: that
   * may have been restored from a backup. It says so if one of them was needed then. Rejects as the store does.
   */
  async restore(): Promise<void> {
    this.#restoring ??= this.#restore().finally(() => {
      this.#restoring = undefined;
    });
    await this.#restoring;
  }

  async #restore(): Promise<void> {
    const { value, isNew } = await existingOr(this.#shared, this.#value);
    const wasOfStore = this.#isOfStore;
    this.#isOfStore = true;
    if (!isNew && value === this.#value) return;
    this.#value = value;
    if (!wasOfStore) return;
    const message = isNew
      ? "the store had lost the token that its servers show each other; this server has put it back"
      : "the store has another token than the one that this server knew; it uses that one now";
    this.#problem({ code: "XDSKIT_STORE", severity: "warning", message });
  }
}

/** The token of the store, which is this one if it had none. */
async function existingOr(
  shared: SharedKeys,
  own: string,
): Promise<{ readonly value: string; readonly isNew: boolean }> {
  const [found] = await shared.list(key);
  if (found !== undefined) return { value: found.value, isNew: false };
  if ((await shared.put({ key, value: own, expected: undefined })) !== undefined) return { value: own, isNew: true };
  return { value: (await shared.list(key))[0]?.value ?? own, isNew: false };
}

/** Whether a request shows it. */
export function showsToken(header: string | undefined, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ""), Buffer.from(`Bearer ${token}`)];
  return given.byteLength === wanted.byteLength && timingSafeEqual(given, wanted);
}
