import { useEffect, useState } from "preact/hooks";
import { pathOf, post } from "../../api/request.js";
import type { ChangeAnswer, Revision } from "../../api/types.js";
import { Changes, Stages } from "../../parts/changes.js";
import { Dialog } from "../../parts/dialog.js";
import { Failure, Findings, Loading } from "../../parts/message.js";
import { go, linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";

/** Shows what a rollback does before it is done. It is done only if nobody changed the layer in between. */
export function Rollback({ to, head, close }: { readonly to: Revision; readonly head: Revision; close(): void }) {
  const [answer, setAnswer] = useState<ChangeAnswer | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const [reason, setReason] = useState("");
  const [isBusy, setBusy] = useState(false);
  const ask = (dryRun: boolean) => {
    const body = JSON.stringify({ to: to.id, message: reason, dryRun });
    return post<ChangeAnswer>(`layers/${pathOf(to.layer)}/rollback?fields=proto`, body, { ifMatch: head.id });
  };
  useEffect(() => void ask(true).then(setAnswer, setError), []);
  const rollBack = async () => {
    setBusy(true);
    try {
      const { revision } = await ask(false);
      go(linkTo("history", revision === null ? [] : [revision.id]));
      close();
    } catch (problem) {
      setError(problem as Error);
      setBusy(false);
    }
  };
  const { added = 0, changed = 0, removed = 0 } = answer?.counts ?? {};
  const total = added + changed + removed;
  return (
    <Dialog title={`Roll ${to.layer} back from ${head.number} to ${to.number}`} close={close}>
      {error === undefined ? null : <Failure error={error} />}
      {answer === undefined ? (
        error === undefined ? (
          <Loading />
        ) : null
      ) : (
        <>
          <p>
            It changes {counted(total, "resource")}: {added} added, {changed} changed, {removed} removed. A folder stays
            rolled back until its files change.
          </p>
          <Findings findings={answer.findings} />
          <div class="form-row">
            <label class="grow">
              <span class="hidden">Why</span>
              <input
                placeholder="Why? It stands in the history"
                value={reason}
                onInput={({ currentTarget }) => setReason(currentTarget.value)}
              />
            </label>
            <button type="button" class="primary" disabled={isBusy || total === 0} onClick={() => void rollBack()}>
              Roll back
            </button>
          </div>
          <Changes changes={answer.changed} total={total} />
          <Stages stages={answer.stages} />
        </>
      )}
    </Dialog>
  );
}
