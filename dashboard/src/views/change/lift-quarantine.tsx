import { useState } from "preact/hooks";
import { post } from "../../api/request.js";
import type { Quarantine } from "../../api/types.js";
import { Dialog } from "../../parts/dialog.js";
import { Failure } from "../../parts/message.js";
import { linkTo } from "../../router.js";

/** Says which nodes get what if a quarantine ends, and ends it only then. */
export function LiftQuarantine({
  quarantine,
  done,
  close,
}: {
  readonly quarantine: Quarantine;
  done(): void;
  close(): void;
}) {
  const [error, setError] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const { group, type, name } = quarantine;
  const lift = async () => {
    setBusy(true);
    try {
      await post(`quarantines/lift?${new URLSearchParams({ group, type, name })}`);
      done();
      close();
    } catch (problem) {
      setError(problem as Error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Lift: the quarantine of ${name}`} close={close}>
      {error === undefined ? null : <Failure error={error} />}
      <p>{reasonOf(quarantine)}</p>
      <p>{outlookOf(quarantine)}</p>
      <ul class="names">
        <li>
          <a href={linkTo("config", [group, type, name])}>{name}</a> <small>{type}</small>
        </li>
      </ul>
      <div class="form-row dialog-end">
        <button type="button" class="danger" disabled={isBusy} onClick={() => void lift()}>
          Lift
        </button>
      </div>
    </Dialog>
  );
}

function reasonOf({ cause, node, message }: Quarantine): string {
  if (cause === "rolled-back") return "A rollout of it was undone.";
  return `${node || "A node"} rejected it${message === "" ? "." : `: ${message}`}`;
}

/** A lifted content takes no steps: it is not the change of a rollout any more. */
function outlookOf({ group, version }: Quarantine): string {
  const kept = `All nodes of ${group} from which it is withheld`;
  return version === undefined
    ? `${kept} lose this resource now, without steps.`
    : `${kept} get this content now, without steps.`;
}
