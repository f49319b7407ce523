import type { ProblemList } from "../api/types.js";
import { useLive } from "../api/use-live.js";
import { ThemeButton } from "../parts/theme.js";
import { TimeButton } from "../parts/time-button.js";
import { linkTo } from "../router.js";
import { counted } from "../text/counts.js";
import { isInTrouble, isUnderWay, type RolloutPage } from "../views/rollouts/rollout-state.js";
import { useViews } from "./use-views.js";

/** The head of the page: its views, with what is wrong and what goes on, and how it is shown. */
export function Head({
  view,
  server,
  problems,
  find,
  help,
}: {
  readonly view: string;
  /** What `--name` calls the server, or empty. */
  readonly server: string;
  readonly problems: ProblemList | undefined;
  find(): void;
  help(): void;
}) {
  const { errors = 0, warnings = 0 } = problems ?? {};
  return (
    <header class="head">
      <a class="logo" href={linkTo("fleet")} aria-label="xdskit, to the fleet">
        <img src="./icon.svg" alt="" width="22" height="22" />
        <span>xdskit</span>
      </a>
      {server === "" ? null : (
        <strong class="server-name" title={server}>
          {server}
        </strong>
      )}
      <nav aria-label="Views">
        {useViews().map(([one, name]) => (
          <a key={one} href={linkTo(one)} aria-current={one === view ? "page" : undefined}>
            {/* On a small screen there is room for the first half. */}
            {one === "config" ? (
              <span>
                Config<span class="rest">uration</span>
              </span>
            ) : (
              name
            )}
            {one === "rollouts" ? <RolloutBadge /> : null}
            {one === "problems" ? (
              <>
                <Badge kind="error" count={errors} text={counted(errors, "error")} />
                <Badge kind="warning" count={warnings} text={counted(warnings, "warning")} />
              </>
            ) : null}
          </a>
        ))}
      </nav>
      <div class="head-end">
        <button type="button" class="icon-button" aria-label="Find" title="Find (Ctrl K)" onClick={find}>
          <span aria-hidden="true">⌕</span>
          <span class="rest">Find</span>
        </button>
        <TimeButton />
        <ThemeButton />
        <button type="button" class="icon-button" aria-label="Keys" title="Keys (?)" onClick={help}>
          <kbd>?</kbd>
          <span class="rest">Keys</span>
        </button>
      </div>
    </header>
  );
}

/** How many rollouts go on; red where somebody should look at one. */
function RolloutBadge() {
  // Rollouts come first; quarantines are not needed here.
  const { data } = useLive<RolloutPage>("rollouts?limit=100");
  const going = data?.rollouts.filter(isUnderWay) ?? [];
  const kind = going.some(isInTrouble) ? "error" : "going";
  return <Badge kind={kind} count={going.length} text={`${counted(going.length, "rollout")} under way`} />;
}

/** How many there are; nothing for none. */
function Badge({
  kind,
  count,
  text,
}: {
  readonly kind: "error" | "warning" | "going";
  readonly count: number;
  /** For who hears it. */
  readonly text: string;
}) {
  if (count === 0) return null;
  return (
    <span class={`badge badge-${kind}`} title={text}>
      <span aria-hidden="true">{count}</span>
      <span class="hidden"> {text}</span>
    </span>
  );
}
