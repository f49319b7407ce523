import assert from "node:assert/strict";
import { describe, it } from "node:test";

/** The state that comes next, and what goes out. */
type Cell<State extends string> = readonly [next: State, ...out: string[]];

/** What a thing with named states does. */
export interface StateTable<State extends string, Event extends string> {
  /** By state, the events that lead to it. */
  readonly reach: Readonly<Record<State, readonly Event[]>>;
  /** By state and event. */
  readonly table: Readonly<Record<State, Readonly<Partial<Record<Event, Cell<State>>>>>>;
  /** What goes out at the last of these events, which happen to a new one. */
  last(events: readonly Event[]): Promise<readonly string[]>;
}

/**
 * Tests each cell of the table. A state cannot be seen: that it comes next is shown by what goes out at each of its
 * events.
 */
export function testStates<State extends string, Event extends string>(
  what: string,
  { reach, table, last }: StateTable<State, Event>,
): void {
  describe(what, () => {
    for (const [state, row] of entries(table))
      for (const [event, [next, ...out]] of entries<Event, Cell<State>>(row))
        it(`that is ${state}, ${event}: ${out.join(", ") || "nothing"}; then it is ${next}`, async () => {
          const events = [...reach[state], event];
          assert.deepEqual(await last(events), out);
          for (const [later, [, ...expected]] of entries<Event, Cell<State>>(table[next]))
            assert.deepEqual(await last([...events, later]), expected, `${later} after that`);
        });
  });
}

const entries = Object.entries as <Key extends string, Value>(
  of: Readonly<Partial<Record<Key, Value>>>,
) => [Key, Value][];
