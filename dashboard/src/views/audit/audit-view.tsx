import type { AuditJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { Empty, Failure, Loading } from "../../parts/message.js";
import { Search, Select } from "../../parts/search.js";
import { Time } from "../../parts/time.js";
import { replaceQuery } from "../../router.js";

/** How many are shown. */
const pageSize = 100;

const actions = [
  "",
  "change",
  "delete",
  "rollback",
  "rollout*",
  "quarantine*",
  "lease*",
  "settings",
  "files",
  "login",
  "call",
  "read",
];

/** Who changed what, and who was refused. */
export function AuditView({ query }: { readonly query: URLSearchParams }) {
  const asked = (name: string) => query.get(name) ?? "";
  const who = asked("who");
  const filters = Object.entries({
    who: who === "" ? "" : `*${who}*`,
    action: asked("action"),
    result: asked("result"),
  });
  const given = filters.filter(([, value]) => value !== "");
  const path = `audit?${new URLSearchParams([...given, ["limit", String(pageSize)]])}`;
  const { data, error } = useLive<AuditJson>(path);
  return (
    <>
      <header class="page-head">
        <h1>Audit</h1>
        <div class="actions">
          <Copy label="Copy curl" text={() => curlOf(path)} />
        </div>
      </header>
      <div class="filter-row">
        <div class="filters">
          <Search label="Who" value={who} change={(text) => replaceQuery({ who: text })} />
          <Select
            label="What"
            value={asked("action")}
            options={actions}
            change={(action) => replaceQuery({ action })}
          />
          <Select
            label="Result"
            value={asked("result")}
            options={["", "done", "refused", "failed"]}
            change={(result) => replaceQuery({ result })}
          />
        </div>
      </div>
      {data === undefined ? error === undefined ? <Loading /> : <Failure error={error} /> : <Entries page={data} />}
    </>
  );
}

function Entries({ page: { isKept, isWhole, entries } }: { readonly page: AuditJson }) {
  if (!isKept)
    return (
      <Empty title="This server keeps no audit in a file.">
        <p>
          <code>audit: {"{ file: audit.jsonl }"}</code> in its settings writes one.
        </p>
      </Empty>
    );
  if (entries.length === 0) return <Empty title="There is no such entry." />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
    <section class="panel scroll stack" aria-label="Audit" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {["When", "Who", "From", "What", "About", "Result"].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map(({ time, who, rule, from, action, target, result, lost }, index) => (
            <tr key={`${time} ${index}`}>
              <td class="nowrap">
                <Time at={time} />
              </td>
              <th scope="row" title={rule ?? undefined}>
                {who ?? "nobody known"}
              </th>
              <td>{from}</td>
              <td class="nowrap">{action}</td>
              <td>
                {target}
                {lost === undefined ? null : <small> ({lost} entries are missing before this one)</small>}
              </td>
              <td>{result}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isWhole ? null : <p class="missing">Older entries: xdskit audit FILE</p>}
    </section>
  );
}
