import type { ProblemEntry, ProblemList } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf, xdskitOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { useCursor } from "../../parts/cursor.js";
import { Empty, Failure, Loading, WhereText } from "../../parts/message.js";
import { Time } from "../../parts/time.js";
import { intoView } from "../../parts/yaml/into-view.js";
import { go, linkTo } from "../../router.js";
import { counted, numberText } from "../../text/counts.js";
import type { RolloutPage } from "../rollouts/rollout-state.js";
import { type KnownRollouts, needsRollouts, ProblemActions } from "./problem-actions.js";
import { linkOf, nodeLink } from "./problem-links.js";

/** Everything that is wrong, the worst first, with what to do. */
export function ProblemsView({ chosen }: { readonly chosen: string | undefined }) {
  const { data, error } = useLive<ProblemList>("problems");
  // Once for all cards.
  const rollouts = useLive<RolloutPage>(data?.problems.some(needsRollouts) ? "rollouts" : undefined);
  const known = { page: rollouts.data, renew: rollouts.renew };
  const current = useCursor(data?.problems.length ?? 0, (index) => {
    const chosen = data?.problems[index];
    const link = chosen && linkOf(chosen);
    if (link !== undefined) go(link.to);
  });
  if (data === undefined) return error === undefined ? <Loading /> : <Failure error={error} />;
  return (
    <>
      <header class="page-head">
        <h1>Problems</h1>
        <div class="actions">
          <Copy label="Copy curl" text={() => curlOf("problems")} />
          <Copy label="Copy command" text={() => xdskitOf("top")} />
        </div>
        {data.problems.length === 0 ? null : (
          <p class="quiet">
            {counted(data.errors, "error")}, {counted(data.warnings, "warning")}
          </p>
        )}
      </header>
      {data.problems.length === 0 ? (
        <Empty title="Nothing is wrong.">
          <p>
            Every client runs what it should run, and every file is served. <a href={linkTo("fleet")}>To the fleet</a>
          </p>
        </Empty>
      ) : null}
      {data.problems.map((problem, index) => (
        <Problem
          key={problem.id}
          problem={problem}
          known={known}
          isCurrent={index === current}
          isChosen={problem.id === chosen}
        />
      ))}
    </>
  );
}

function Problem({
  problem,
  known,
  isCurrent,
  isChosen,
}: {
  readonly problem: ProblemEntry;
  readonly known: KnownRollouts;
  readonly isCurrent: boolean;
  /** The link of the page names it. */
  readonly isChosen: boolean;
}) {
  const { id, severity, title, detail, advice, since, expires, where, nodes, count, code } = problem;
  const link = linkOf(problem);
  return (
    <article
      ref={isChosen ? intoView : undefined}
      class={`panel problem problem-${severity}${isCurrent || isChosen ? " current" : ""}`}
      aria-current={isChosen ? "true" : undefined}
    >
      <span class="problem-sign" aria-hidden="true">
        {severity === "error" ? "✕" : "⚠"}
      </span>
      <div>
        <h2>
          <span class="hidden">{severity}: </span>
          <a class="quiet-link" href={linkTo("problems", [id])}>
            {title}
          </a>
        </h2>
        <p class="detail">
          <WhereText where={where ?? {}} />
          {detail}
        </p>
        <Names problem={problem} />
        {nodes.length === 0 ? null : (
          <ul class="names">
            {nodes.map((id) => (
              <li key={id}>
                <a href={nodeLink(id, problem)}>{id}</a>
              </li>
            ))}
            {count > nodes.length ? <li class="quiet">and {numberText(count - nodes.length)} more</li> : null}
          </ul>
        )}
        <p class="advice">{advice}</p>
        <div class="problem-actions">
          {link === undefined ? null : (
            <a class="button" href={link.to}>
              {link.text}
            </a>
          )}
          <ProblemActions problem={problem} known={known} />
        </div>
        <p class="quiet small-text problem-end">
          {since === null ? null : <Time at={since} />}
          {expires === null ? null : (
            <span>
              expires <Time at={expires} />
            </span>
          )}
          {code === null ? null : <code>{code}</code>}
        </p>
      </div>
    </article>
  );
}

/** The resources of a problem that many have. */
function Names({ problem: { kind, type, names, groups, count } }: { readonly problem: ProblemEntry }) {
  if (kind === "rejected" || kind === "quarantine" || names.length < 2) return null;
  return (
    <ul class="names">
      {names.map((name) => (
        <li key={name}>
          {type === null ? name : <a href={linkTo("config", [groups[0] ?? "", type, name])}>{name}</a>}
        </li>
      ))}
      {count > names.length ? <li class="quiet">and {numberText(count - names.length)} more</li> : null}
    </ul>
  );
}
