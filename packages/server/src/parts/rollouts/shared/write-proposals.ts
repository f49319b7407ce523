import { maxConflicts } from "../../../stores/basics/paces.js";
import type { RolloutRecord } from "../records/record.js";
import { othersAreFaster, type RecordStore } from "../records/record-store.js";
import type { Proposal } from "./group-side.js";

/** Writes the records that a group wants, one after the other, until it wants none. */
export async function writeProposals(
  records: RecordStore,
  group: string,
  proposalAfter: (record: RolloutRecord | undefined) => Proposal | undefined,
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const record = records.of(group);
    const proposal = proposalAfter(record);
    if (proposal === undefined) return;
    if (tries === maxConflicts) throw othersAreFaster();
    await records.write(group, record, proposal.next, proposal.list);
    // Those who hear of it answer first.
    await Promise.resolve();
  }
}
