import { isGlobName, type ResourceName, type ResourceType } from "@xdskit/api";
import { foreignAuthority, isLocator, type Node } from "@xdskit/protocol";
import type { Answered, Asker, Demanded, Interest, NameDecision } from "../../contracts/parts/supply.js";
import type { GroupDemand } from "./group-demand.js";
import { maxInTurn } from "./intervals.js";
import { NameTable } from "./name-table.js";

interface InterestParts {
  readonly group: GroupDemand;
  readonly node: Node;
  readonly asker: Asker;
  /** The authorities that are served; undefined for any. */
  readonly authorities: ReadonlySet<string> | undefined;
  /** Called once when no name is wanted any more. */
  left(): void;
}

/** The names that one stream asks for. */
export class StreamInterest implements Interest {
  readonly #parts: InterestParts;
  /** By type, the names that the stream is subscribed to. */
  readonly #subscribed = new Map<ResourceType, Iterable<ResourceName>>();
  /** The refused names. */
  readonly #refused = new NameTable<true>();
  /** Names that the stream is subscribed to, and that were not refused. */
  #accepted = 0;
  #closed = false;

  constructor(parts: InterestParts) {
    this.#parts = parts;
  }

  /** Takes over the requested names, and returns the known results for them. */
  demand({ type, added, again, dropped, names }: Demanded): Answered {
    const { group } = this.#parts;
    const answered: { [K in keyof Answered]: ResourceName[] } = { absent: [], late: [], refused: [], undecided: [] };
    const note = (name: ResourceName, outcome: NameDecision | undefined) => {
      if (outcome === "refused") this.#refused.set(type, name, true);
      if (outcome !== "found") answered[outcome ?? "undecided"].push(name);
    };
    this.#subscribed.set(type, names);
    for (const name of dropped) this.#leave(type, name);
    for (const name of added) note(name, this.#mayBeSupplied(name) ? this.#subscribe(type, name) : "absent");
    for (const name of again) {
      if (!this.#mayBeSupplied(name)) note(name, "absent");
      else if (this.#refused.delete(type, name)) note(name, this.#subscribe(type, name));
      else note(name, group.again(type, name, this.#parts));
    }
    return answered;
  }

  /** Ends the interest, because the stream has ended. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#leaveSome(this.#everything());
  }

  /** A client with a hundred thousand names must not hold up all others when it leaves. */
  #leaveSome(rest: Iterator<readonly [type: ResourceType, name: ResourceName], void>): void {
    for (let names = 0; names < maxInTurn; names += 1) {
      const next = rest.next();
      if (next.done === true) {
        this.#parts.left();
        return;
      }
      this.#leave(...next.value);
    }
    setImmediate(() => this.#leaveSome(rest));
  }

  *#everything(): Generator<readonly [type: ResourceType, name: ResourceName], void> {
    for (const [type, names] of this.#subscribed) for (const name of names) yield [type, name];
  }

  #subscribe(type: ResourceType, name: ResourceName): NameDecision | undefined {
    const outcome = this.#parts.group.subscribe(type, name, this.#parts, this.#accepted);
    if (outcome !== "refused") this.#accepted += 1;
    return outcome;
  }

  #leave(type: ResourceType, name: ResourceName): void {
    if (this.#refused.delete(type, name) || !this.#mayBeSupplied(name)) return;
    this.#accepted -= 1;
    this.#parts.group.unsubscribe(type, name, this.#parts.asker);
  }

  /** Whether a name may be supplied: collections, variants and names of a foreign authority may not. */
  #mayBeSupplied(name: ResourceName): boolean {
    if (name === "" || isGlobName(name) || isLocator(name)) return false;
    return foreignAuthority(name, this.#parts.authorities) === undefined;
  }
}
