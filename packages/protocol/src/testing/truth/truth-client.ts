import type { SeenResponse } from "../wire.js";

/** A client rejects contents that begin so. */
export const bad = "bad";

/** What a client makes of one response: what it uses from then on, and what it has against it. */
export interface Taken {
  readonly nonce: string;
  readonly version: string;
  readonly uses: ReadonlyMap<string, string>;
  /** The contents that it rejected, by name; undefined where it acknowledges. */
  readonly refused: ReadonlyMap<string, string> | undefined;
  readonly message: string;
  /** It is the answer to a heartbeat, and to nothing else. */
  readonly isHeartbeat: boolean;
  /** The names of which it says something. */
  readonly about: ReadonlySet<string> | "everything";
}

/**
 * A client's use of one type, as plain as can be: it uses what it takes, tells the server so when it likes, and remembers what it told. What the server says of it is compared with that.
 */
export class TruthClient {
  readonly type: string;
  /** What it asks for; undefined for everything. */
  names: ReadonlySet<string> | undefined;
  readonly #isWhole: boolean;
  readonly #blames: boolean;
  #uses: ReadonlyMap<string, string> = new Map();
  /** What it used as of the last answer that the server is to have heard; undefined before it acknowledged anything. */
  told: ReadonlyMap<string, string> | undefined;
  /** What it said against responses, of what it was not heard to use or to drop since. */
  refused: ReadonlyMap<string, string> = new Map();
  /** How many responses had been sent when it asked for a name anew: what those have of it is older. */
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

  /** Reads a response, and takes what it can use. `count`: which of all that were sent. */
  read({ nonce, version, resources, removed, isHeartbeat }: SeenResponse, count: number): void {
    const isAsked = (name: string) => this.asksFor(name) && count > (this.#askedAt.get(name) ?? 0);
    const carried = resources.filter(({ name, content }) => content !== undefined && isAsked(name));
    const faulty = carried.filter(({ content = "" }) => content.startsWith(bad));
    const usesRest = this.#blames && (this.type === "cluster" || this.type === "listener");
    const uses = new Map(this.#uses);
    // By name it takes a heartbeat for what it is; where it is the full state it may not leave anything out.
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

  /** The server is to have heard this answer. `wanted`: what the client is to have by now. */
  heard({ uses, refused, about }: Taken, wanted: ReadonlyMap<string, string>): void {
    if (refused === undefined || this.told !== undefined || uses.size > 0) this.told = uses;
    if (refused !== undefined) this.refused = new Map([...this.refused, ...refused]);
    else if (about === "everything") this.refused = new Map();
    // What it rejected is out of the question once it acknowledged something after it went.
    else {
      const still = [...this.refused].filter(([name, content]) => !about.has(name) && wanted.get(name) === content);
      this.refused = new Map(still);
    }
  }

  /** It asks for these from now on, and drops the others. `sent`: how many responses were sent by now. */
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
