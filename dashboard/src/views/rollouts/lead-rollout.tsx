import { pathOf, post } from "../../api/request.js";
import type { RolloutJson } from "../../api/types.js";
import { Confirm } from "../../parts/acting/confirm.js";
import { ResourceNames } from "../../parts/resource-names.js";
import { counted } from "../../text/counts.js";

/** What somebody may do with a rollout. */
export type RolloutAction = "resume" | "halt" | "promote" | "roll-back";

/** In which states each makes sense. */
export const rolloutActions: Readonly<Record<RolloutAction, readonly string[]>> = {
  resume: ["halted"],
  halt: ["waiting", "soaking"],
  promote: ["waiting", "soaking", "halted"],
  "roll-back": ["waiting", "soaking", "halted"],
};

export const rolloutWords: Readonly<Record<RolloutAction, string>> = {
  resume: "Resume",
  halt: "Halt",
  promote: "Promote to all",
  "roll-back": "Undo",
};

/** What it will do, in numbers that are true now. */
function outlookOf(action: RolloutAction, { group, step, steps, changed, nodes }: RolloutJson): string {
  const what = counted(changed, "resource");
  const [reached, held] = [counted(nodes.reached, "node"), counted(nodes.held, "node")];
  switch (action) {
    case "resume":
      return `It goes on at step ${step} of ${steps.length}. As many rejections as before halt it again.`;
    case "halt":
      return `The change stays on ${reached} of ${group}, and ${held} keep what was before. No further node gets it.`;
    case "promote": {
      const against = nodes.rejected > 0 ? ` ${counted(nodes.rejected, "node")} rejected it.` : "";
      return `The change of ${what} goes to all of ${group} now, without further steps: to ${held} more.${against}`;
    }
    case "roll-back":
      return `The change of ${what} is taken back from ${reached} of ${group}. Nobody gets it again until it changes, or its quarantine is lifted.`;
  }
}

/** Says what it will do, and does it only then. */
export function LeadRollout({
  rollout,
  action,
  done,
  close,
}: {
  readonly rollout: RolloutJson;
  readonly action: RolloutAction;
  done(): void;
  close(): void;
}) {
  const { id, group, resources } = rollout;
  return (
    <Confirm
      title={`${rolloutWords[action]}: the rollout of ${group}`}
      word={rolloutWords[action]}
      kind={action === "roll-back" ? "danger" : "primary"}
      // The id: what was shown may be over, and another one under way.
      run={() => post(`rollouts/${pathOf(group)}/${action}?${new URLSearchParams({ id: String(id) })}`)}
      done={done}
      close={close}
    >
      <p>{outlookOf(action, rollout)}</p>
      <ResourceNames group={group} resources={resources.slice(0, maxNames)} more={rollout.changed - maxNames} />
    </Confirm>
  );
}

const maxNames = 20;
