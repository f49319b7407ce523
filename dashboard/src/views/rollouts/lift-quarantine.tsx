import { post } from "../../api/request.js";
import type { QuarantineJson } from "../../api/types.js";
import { Confirm } from "../../parts/acting/confirm.js";
import { ResourceNames } from "../../parts/resource-names.js";

/** Says which nodes get what if a quarantine ends, and ends it only then. */
export function LiftQuarantine({
  quarantine,
  done,
  close,
}: {
  readonly quarantine: QuarantineJson;
  done(): void;
  close(): void;
}) {
  const { group, type, name } = quarantine;
  return (
    <Confirm
      title={`Lift: the quarantine of ${name}`}
      word="Lift"
      kind="danger"
      run={() => post(`quarantines/lift?${new URLSearchParams({ group, type, name })}`)}
      done={done}
      close={close}
    >
      <p>{reasonOf(quarantine)}</p>
      <p>{outlookOf(quarantine)}</p>
      <ResourceNames group={group} resources={[{ type, name }]} />
    </Confirm>
  );
}

function reasonOf({ cause, node, message }: QuarantineJson): string {
  if (cause === "rolled-back") return "A rollout of it was undone.";
  return `${node || "A node"} rejected it${message === "" ? "." : `: ${message}`}`;
}

/** A lifted content takes no steps: it is not the change of a rollout any more. */
function outlookOf({ group, version }: QuarantineJson): string {
  const kept = `All nodes of ${group} from which it is withheld`;
  return version === undefined
    ? `${kept} lose this resource now, without steps.`
    : `${kept} get this content now, without steps.`;
}
