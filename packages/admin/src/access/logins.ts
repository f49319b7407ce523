/** Who was silent for this long logs in anew, in milliseconds. */
const sessionMs = 3_600_000;
/** Of more callers, those are forgotten that were silent for longest. */
const maxCallers = 10_000;

/** The callers of late. A credential comes with each request, so a login is the first after a silence. */
export class Logins {
  /** When each called last, the longest silent first. */
  readonly #last = new Map<string, number>();

  /** Notes a call of who proved to be `who`, from there; returns whether it is a login. `now`: in milliseconds. */
  isLogin(who: string, from: string, now: number): boolean {
    const key = JSON.stringify([who, from]);
    const last = this.#last.get(key) ?? Number.NEGATIVE_INFINITY;
    this.#last.delete(key);
    this.#last.set(key, now);
    const [oldest] = this.#last.size > maxCallers ? this.#last.keys() : [];
    if (oldest !== undefined) this.#last.delete(oldest);
    return now - last >= sessionMs;
  }
}
