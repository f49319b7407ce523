import { ApiError } from "../../api/request.js";
import type { ChangeAnswer, LayerJson } from "../../api/types.js";
import { ReasonFields, type useSaid } from "../../parts/acting/reason.js";
import { useAct } from "../../parts/acting/use-act.js";
import { Failure, Findings } from "../../parts/message.js";
import { Changes, Stages } from "../../parts/yaml/changes.js";
import { go, linkTo } from "../../router.js";
import { counted } from "../../text/counts.js";
import type { JoinedFiles } from "../../text/joined-files.js";
import { forgetDraft } from "./draft.js";
import { placed, sendChange } from "./send-change.js";

/** What was looked at: as long as the text is the same, it can be applied. */
export interface Outlook {
  readonly text: string;
  readonly layer: string;
  readonly replace: boolean;
  /** The revision that the layer had then; null: none. It is applied to this one, or not at all. */
  readonly head: string | null;
  readonly answer: ChangeAnswer;
}

/** What a change would do, and the button that does it. */
export function Looked({
  outlook: { text, replace, head, answer },
  layer,
  files,
  why: [said, change],
  lookAgain,
}: {
  readonly outlook: Outlook;
  readonly layer: LayerJson;
  readonly files: JoinedFiles | undefined;
  readonly why: ReturnType<typeof useSaid>;
  lookAgain(): void;
}) {
  const { error, isBusy, act } = useAct();
  const { added, changed, removed } = answer.counts;
  const total = added + changed + removed;
  const hasMoved = (layer.head?.id ?? null) !== head || (error instanceof ApiError && error.status === 412);
  const apply = async () => {
    const options = { replace, dryRun: false, message: said.reason, author: said.author, head };
    const { revision } = await sendChange(layer, text, options).catch((problem: Error) => {
      throw placed(problem, text, files);
    });
    forgetDraft();
    go(linkTo("history", revision === null ? [] : [revision.id]));
  };
  return (
    <section class="panel" aria-labelledby="outlook-title">
      <h2 id="outlook-title">
        It changes {counted(total, "resource")}{" "}
        <small>{`${added} added, ${changed} changed, ${removed} removed in layer ${layer.name}`}</small>
      </h2>
      <Findings findings={answer.findings} />
      {hasMoved ? (
        <p class="notice" role="alert">
          Somebody changed layer {layer.name} since you looked.{" "}
          <button type="button" class="small" onClick={lookAgain}>
            Look again
          </button>
        </p>
      ) : null}
      {layer.writable && total > 0 ? (
        <form
          class="form-row"
          onSubmit={(event) => {
            event.preventDefault();
            void act(apply);
          }}
        >
          <ReasonFields said={said} change={change} />
          <button type="submit" class="primary" disabled={isBusy || hasMoved || said.reason.trim() === ""}>
            Apply
          </button>
        </form>
      ) : null}
      {layer.writable ? null : (
        <p class="quiet">Layer {layer.name} is not written here: change its files, and they are served.</p>
      )}
      {error === undefined ? null : <Failure error={error} />}
      <Changes changes={answer.changed} total={total} />
      <Stages stages={answer.stages} />
    </section>
  );
}
