import { useLive } from "../../api/use-live.js";
import { curlOf, xdskitOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Empty, Failure, Loading } from "../../parts/message.js";
import { linkTo } from "../../router.js";
import { Quarantines } from "./quarantines.js";
import { RolloutPanel } from "./rollout-panel.js";
import { isUnderWay, type RolloutPage } from "./rollout-state.js";

/** Changes that go out in steps, those under way first, and what is in quarantine. */
export function RolloutsView() {
  const { data, error, renew } = useLive<RolloutPage>("rollouts");
  if (data === undefined) return error === undefined ? <Loading /> : <Failure error={error} />;
  const { rollouts, quarantines } = data;
  const sorted = [...rollouts.filter(isUnderWay), ...rollouts.filter((one) => !isUnderWay(one))];
  return (
    <>
      <header class="page-head">
        <h1>Rollouts</h1>
        <div class="actions">
          <Copy label="Copy curl" text={() => curlOf("rollouts")} />
          <Copy label="Copy command" text={() => xdskitOf("rollout", "status")} />
        </div>
      </header>
      {rollouts.length === 0 ? (
        <Empty title="No change goes out in steps.">
          <p>
            The settings say which groups take changes step by step: <code>rollout</code> of a group. Other changes go
            to all nodes at once, and the <a href={linkTo("history")}>history</a> shows how far they are.
          </p>
        </Empty>
      ) : null}
      {sorted.map((rollout) => (
        <RolloutPanel key={`${rollout.group} ${rollout.id}`} rollout={rollout} done={renew} />
      ))}
      <Quarantines quarantines={quarantines} renew={renew} />
    </>
  );
}
