import type { SeenResponse } from "../wire.js";

/** A client rejects contents that begin with this. */
export const bad = "bad";

/** A client's reaction to one response: the resources that it uses from then on, and its objections. */
export interface Taken {
  readonly nonce: string;
  readonly version: string;
  readonly uses: ReadonlyMap<string, string>;
  /** The contents that it rejected, by name; undefined for an acknowledgement. */
  readonly refused: ReadonlyMap<string, string> | undefined;
  readonly message: string;
  /** It is the answer to a heartbeat, and to nothing else. */
  readonly isHeartbeat: boolean;
  /** The names that the answer is about. */
  readonly about: ReadonlySet<string> | "everything";
}

/**
 * A client's use of one type, as simple as possible: it uses the resources that it takes, tells the server when it
 * likes, and remembers its answers. The server's status is compared with these.
 */
export class TruthClient {
  readonly type: string;
  /** The names that it asks for; undefined for everything. */
  names: ReadonlySet<string> | undefined;
  readonly #isWhole: boolean;
  readonly #blames: boolean;
  #uses: ReadonlyMap<string, string> = new Map();
  /** Its used resources at the last answer that the server heard; undefined before its first acknowledgement. */
  told: ReadonlyMap<string, string> | undefined;
  /** Its objections to resources that it has not used or dropped since, as far as the server heard. */
  refused: ReadonlyMap<string, string> = new Map();
  /** The number of responses sent when it asked for a name anew: their contents of the name are older. */
  readonly #askedAt = new Map<string, number>();
  /** Read, and not answered: the oldest first. */
  readonly open: Taken[] = [];

  constructor(type: string, names: ReadonlySet<string> | undefined, isWhole: boolean, blames: boolean) {
    this.type = type;
    this.names = names;
    this.#isWhole = isWhole;
    this.#blames = blames;
  }

  asksFor(name: string): boolean {
    return this.names === undefined || this.names.has(name);
  }

  /** Reads a response, and takes the good part. `count` is its number among all sent responses. */
  read({ nonce, version, resources, removed, isHeartbeat }: SeenResponse, count: number): void {
    const isAsked = (name: string) => this.asksFor(name) && count > (this.#askedAt.get(name) ?? 0);
    const carried = resources.filter(({ name, content }) => content !== undefined && isAsked(name));
    const faulty = carried.filter(({ content = "" }) => content.startsWith(bad));
    const usesRest = this.#blames && (this.type === "cluster" || this.type === "listener");
    const uses = new Map(this.#uses);
    // Of a type by name it accepts a heartbeat as one; in a full state nothing may be missing.
    const isUsed = (faulty.length === 0 || usesRest) && (this.#isWhole || !isHeartbeat);
    if (isUsed) {
      const there = new Set(resources.map(({ name }) => name));
      if (this.#isWhole) for (const name of uses.keys()) if (!there.has(name)) uses.delete(name);
      for (const { name, content = "" } of carried) if (!content.startsWith(bad)) uses.set(name, content);
      for (const name of removed) if (isAsked(name)) uses.delete(name);
    }
    const against = usesRest ? faulty : carried;
    const refused = against.filter(({ name, content }) => content !== undefined && uses.get(name) !== content);
    this.#uses = uses;
    const what = faulty.map(({ name }) => `${name}: no good`);
    const message = usesRest
      ? `Error adding/updating ${this.type}(s) ${what.join(this.type === "cluster" ? ", " : "\n")}`
      : "no good";
    this.open.push({
      nonce,
      version,
      uses,
      refused: faulty.length === 0 ? undefined : new Map(refused.map(({ name, content = "" }) => [name, content])),
      message,
      isHeartbeat,
      about: this.#isWhole ? "everything" : new Set([...resources.map(({ name }) => name), ...removed]),
    });
  }

  /** The server hears this answer. `wanted` is the client's current target. */
  heard({ uses, refused, about }: Taken, wanted: ReadonlyMap<string, string>): void {
    if (refused === undefined || this.told !== undefined || uses.size > 0) this.told = uses;
    if (refused !== undefined) this.refused = new Map([...this.refused, ...refused]);
    else if (about === "everything") this.refused = new Map();
    // A rejection is void once the client acknowledged something after the resource went.
    else {
      const still = [...this.refused].filter(([name, content]) => !about.has(name) && wanted.get(name) === content);
      this.refused = new Map(still);
    }
  }

  /** It asks for these from now on, and drops the others. `sent`: the number of responses sent by now. */
  ask(names: ReadonlySet<string>, sent: number): void {
    for (const name of names) if (!this.asksFor(name)) this.#askedAt.set(name, sent);
    this.names = names;
    const only = (of: ReadonlyMap<string, string>) => new Map([...of].filter(([name]) => names.has(name)));
    this.#uses = only(this.#uses);
    this.told = this.told && only(this.told);
    this.refused = only(this.refused);
    for (const [index, taken] of this.open.entries()) {
      this.open[index] = { ...taken, uses: only(taken.uses), refused: taken.refused && only(taken.refused) };
    }
  }
}
