import { useEffect, useState } from "preact/hooks";
import { ApiError, pathOf, post } from "../../api/request.js";
import type { ChangeAnswer, RevisionJson } from "../../api/types.js";
import { Dialog } from "../../parts/acting/dialog.js";
import { ReasonFields, useSaid } from "../../parts/acting/reason.js";
import { useAct } from "../../parts/acting/use-act.js";
import { Failure, Findings, Loading } from "../../parts/message.js";
import { Changes, Stages } from "../../parts/yaml/changes.js";
import { go, linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";

/**
 * Shows what a rollback does before it is done. `from` is what the layer had when it was looked at: it is done only if
 * nobody changed the layer in between.
 */
export function Rollback({
  to,
  from,
  newest,
  lookAgain,
  close,
}: {
  readonly to: RevisionJson;
  readonly from: RevisionJson;
  /** What the layer has by now. */
  readonly newest: RevisionJson;
  lookAgain(): void;
  close(): void;
}) {
  const [answer, setAnswer] = useState<ChangeAnswer | undefined>(undefined);
  const { error, isBusy, act, failed } = useAct();
  const [said, change] = useSaid();
  const ask = (dryRun: boolean) => {
    const { reason, author } = said;
    const body = JSON.stringify({ to: to.id, message: reason, dryRun, ...(author === "" ? {} : { author }) });
    return post<ChangeAnswer>(`layers/${pathOf(to.layer)}/rollback?fields=proto`, body, { ifMatch: from.id });
  };
  useEffect(() => void ask(true).then(setAnswer, failed), []);
  const rollBack = async () => {
    const { revision } = await ask(false);
    go(linkTo("history", revision === null ? [] : [revision.id]));
    close();
  };
  const { added = 0, changed = 0, removed = 0 } = answer?.counts ?? {};
  const total = added + changed + removed;
  const hasMoved = newest.id !== from.id || (error instanceof ApiError && error.status === 412);
  return (
    <Dialog title={`Roll ${to.layer} back from ${from.number} to ${to.number}`} close={close}>
      {hasMoved ? (
        <p class="notice" role="alert">
          {newest.author} changed {to.layer} since you looked: it is at {newest.number} now.{" "}
          <button type="button" class="small" onClick={lookAgain}>
            Look again
          </button>
        </p>
      ) : null}
      {error === undefined || hasMoved ? null : <Failure error={error} />}
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
          <form
            class="form-row"
            onSubmit={(event) => {
              event.preventDefault();
              void act(rollBack);
            }}
          >
            <ReasonFields said={said} change={change} />
            <button type="submit" class="primary" disabled={isBusy || hasMoved || total === 0}>
              Roll back
            </button>
          </form>
          <Changes changes={answer.changed} total={total} />
          <Stages stages={answer.stages} />
        </>
      )}
    </Dialog>
  );
}
