import { useState } from "preact/hooks";
import { get } from "../../api/request.js";
import type { LayerJson, RevisionJson } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { curlOf, xdskitOf } from "../../parts/acting/commands.js";
import { Copy } from "../../parts/acting/copy.js";
import { useCursor } from "../../parts/cursor.js";
import { Empty, Failure, Loading } from "../../parts/message.js";
import { Select } from "../../parts/search.js";
import { go, linkTo, type Place, replaceQuery } from "../../router.js";
import { Compare, type Pair } from "./compare.js";
import { DiffView } from "./diff-view.js";
import type { RevisionPage } from "./find-revision.js";
import { RevisionRow } from "./revision-row.js";
import { RevisionView } from "./revision-view.js";

/** How many come at once. */
const pageSize = 50;
/** How far clients are with a revision costs the server a look at each node: older ones are asked for by a button. */
const resultsOf = 8;

/** What every layer was, and by whom and why it changed. */
export function HistoryView({ place: { parts, query } }: { readonly place: Place }) {
  const [id] = parts;
  const [from, to] = [query.get("from"), query.get("to")];
  if (id !== undefined) return <RevisionView key={id} id={id} />;
  if (from !== null && to !== null) return <DiffView key={`${from} ${to}`} from={from} to={to} />;
  const layer = query.get("layer") ?? "";
  return <RevisionList key={layer} layer={layer} />;
}

function RevisionList({ layer }: { readonly layer: string }) {
  const layers = useLive<{ readonly layers: readonly LayerJson[] }>("layers");
  const path = `revisions?${new URLSearchParams({ limit: String(pageSize), ...(layer === "" ? {} : { layer }) })}`;
  const { data, error } = useLive<RevisionPage>(path);
  const older = useOlder(path);
  const [pair, setPair] = useState<Pair>({ from: "", to: "" });
  const newest = data?.revisions ?? [];
  const known = new Set(newest.map(({ id }) => id));
  const revisions = [...newest, ...older.revisions.filter(({ id }) => !known.has(id))];
  const names = revisions.map(({ layer: of, number }) => `${of} ${number}`);
  const nameOf = (id: string) => names[revisions.findIndex((one) => one.id === id)];
  const choose = ({ layer: of, number }: RevisionJson) => setPair((before) => chosen(before, `${of} ${number}`, names));
  const current = useCursor(
    revisions.length,
    (index) => go(linkTo("history", [revisions[index]?.id ?? ""])),
    (index) => choose(revisions[index] as RevisionJson),
  );
  if (data === undefined) return error === undefined ? <Loading /> : <Failure error={error} />;
  const heads = new Set(layers.data?.layers.map(({ head }) => head?.id));
  const next = older.next ?? data.next;
  return (
    <>
      <header class="page-head">
        <h1>History</h1>
        <div class="actions">
          <Copy label="Copy curl" text={() => curlOf(path)} />
          <Copy label="Copy command" text={() => xdskitOf("history", ...(layer === "" ? [] : ["--layer", layer]))} />
        </div>
      </header>
      <div class="filter-row">
        <div class="filters">
          <Select
            label="Layer"
            value={layer}
            options={["", ...(layers.data?.layers.map(({ name }) => name) ?? [])]}
            change={(name) => replaceQuery({ layer: name })}
          />
        </div>
        {revisions.length < 2 ? null : <Compare pair={pair} change={setPair} listed={revisions} />}
      </div>
      {revisions.length === 0 ? (
        <Empty title="There is no revision yet.">
          <p>
            Each change of the folder or of a layer is one. <a href={linkTo("change")}>Make a change</a>
          </p>
        </Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
        <section class="panel scroll stack" aria-label="Revisions" tabIndex={0}>
          <table>
            <Head />
            <tbody>
              {revisions.map((revision, index) => (
                <RevisionRow
                  key={revision.id}
                  revision={revision}
                  isHead={heads.has(revision.id)}
                  isChosen={[pair.from, pair.to].includes(`${revision.layer} ${revision.number}`)}
                  isCurrent={index === current}
                  choose={() => choose(revision)}
                  isAsked={index < resultsOf}
                  nameOf={nameOf}
                />
              ))}
            </tbody>
          </table>
          {next === undefined || older.isDone ? null : (
            <button type="button" disabled={older.isBusy} onClick={() => void older.more(next)}>
              Older revisions
            </button>
          )}
          {older.error === undefined ? null : <Failure error={older.error} />}
        </section>
      )}
    </>
  );
}

function Head() {
  return (
    <thead>
      <tr>
        <th scope="col">
          <span class="hidden">Compare</span>
        </th>
        {["Revision", "When", "By", "Why", "Size", "Result"].map((name) => (
          <th scope="col" key={name}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** Another choice, or one less. The older one is the first: `names` go from the newest on. */
function chosen({ from, to }: Pair, name: string, names: readonly string[]): Pair {
  if (from === name) return { from: "", to };
  if (to === name) return { from, to: "" };
  // Of two that are chosen already, the one that was typed or chosen last stays.
  const other = to === "" ? from : to;
  if (other === "") return { from: name, to: "" };
  return names.indexOf(name) > names.indexOf(other) ? { from: name, to: other } : { from: other, to: name };
}

/** The pages behind the first one. */
function useOlder(path: string) {
  const [state, setState] = useState<{
    readonly revisions: readonly RevisionJson[];
    readonly next?: string | undefined;
    readonly isDone: boolean;
    readonly isBusy: boolean;
    readonly error?: Error | undefined;
  }>({ revisions: [], isDone: false, isBusy: false });
  const more = async (after: string) => {
    setState((before) => ({ ...before, isBusy: true, error: undefined }));
    try {
      const page = await get<RevisionPage>(`${path}&${new URLSearchParams({ after })}`);
      setState((before) => ({
        revisions: [...before.revisions, ...page.revisions],
        next: page.next,
        isDone: page.next === undefined,
        isBusy: false,
      }));
    } catch (error) {
      setState((before) => ({ ...before, isBusy: false, error: error as Error }));
    }
  };
  return { ...state, more };
}
