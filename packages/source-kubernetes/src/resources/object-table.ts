import type { Resource, Steps } from "@xdskit/api";
import type { ObjectFault } from "../objects/object-fault.js";
import { MadeResources, type OpenChange, type TableChange } from "./made-resources.js";
import { ObjectFaults } from "./object-faults.js";

/** What one object gives. */
export interface MadeOfObject {
  /** Undefined: what was made before stays. */
  readonly resources: readonly Resource[] | undefined;
  readonly faults: readonly ObjectFault[];
}

/** The resources that were made of the objects of one kind. A change makes only those of its own object. */
export abstract class ObjectTable {
  readonly made = new MadeResources();
  /** What is not followed of the objects. */
  readonly faults = new ObjectFaults();
  #due = new Set<string>();

  /** Something changed since it was taken last. */
  get isDue(): boolean {
    return this.#due.size > 0;
  }

  /** The resources of an object must be made anew. */
  protected markDue(key: string): void {
    this.#due.add(key);
  }

  /** Of one that is gone: nothing. */
  protected abstract make(key: string): MadeOfObject;

  /** What was made of one was taken; `back`: as `MadeResources.replace` returns it. */
  protected took(_key: string, _back: () => void): void {}

  /**
   * Makes what is due; of the first ten thousand resources that takes seconds, in which others get a turn. What changes
   * meanwhile is due next time. The removed are those that nothing stands for any more.
   */
  *take(): Steps<TableChange> {
    const change: OpenChange = { upsert: [], remove: [] };
    const all = this.#due;
    this.#due = new Set();
    for (const key of all) {
      const { resources, faults } = this.make(key);
      this.faults.set(key, faults);
      if (resources !== undefined) this.took(key, this.made.replace(key, resources, change));
      yield;
    }
    return change;
  }
}
