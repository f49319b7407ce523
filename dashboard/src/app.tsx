import { useEffect, useMemo, useState } from "preact/hooks";
import { type Connection, onConnection } from "./api/events.js";
import type { ProblemList } from "./api/types.js";
import { useLive } from "./api/use-live.js";
import { Dialog } from "./parts/acting/dialog.js";
import { focusSearch, type Keys, useKeys } from "./parts/keys.js";
import { ThemeButton } from "./parts/theme.js";
import { changeTimeStyle } from "./parts/time.js";
import { TimeButton } from "./parts/time-button.js";
import { go, linkTo, type Place, usePlace } from "./router.js";
import { counted } from "./text/counts.js";
import { ChangeView } from "./views/change/change-view.js";
import { ConfigView } from "./views/config/config-view.js";
import { FleetView } from "./views/fleet/fleet-view.js";
import { HistoryView } from "./views/history/history-view.js";
import { NodeView } from "./views/node/node-view.js";
import { ProblemsView } from "./views/problems/problems-view.js";

const views = [
  ["fleet", "Fleet", "g f"],
  ["config", "Configuration", "g c"],
  ["change", "Change", "g n"],
  ["history", "History", "g h"],
  ["problems", "Problems", "g p"],
] as const;

/** The page: its head, and the view that the link names. */
export function App() {
  const place = usePlace();
  const [isHelping, setHelping] = useState(false);
  const problems = useLive<ProblemList>("problems");
  // A warning does not make an error worse.
  const count = problems.data?.errors || problems.data?.warnings || 0;
  const view = place.view === "" ? "fleet" : place.view;
  const name = view === "node" ? (place.parts[0] ?? "") : (views.find(([one]) => one === view)?.[1] ?? "");
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${name} · xdskit`;
  }, [count, name]);
  const keys = useMemo<Keys>(
    () => ({
      "/": focusSearch,
      "?": () => setHelping(true),
      t: changeTimeStyle,
      ...Object.fromEntries(views.map(([one, , key]) => [key, () => go(linkTo(one))])),
    }),
    [],
  );
  useKeys(keys);
  useEffect(() => setHelping(false), [place]);
  // The view has answers of its own: those about problems change nothing in it.
  const shown = useMemo(() => <View place={{ ...place, view }} />, [place, view]);
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        To the content
      </button>
      <Head view={view === "node" ? "fleet" : view} problems={problems.data} help={() => setHelping(true)} />
      <ConnectionLost />
      <main id="main" tabIndex={-1}>
        {shown}
      </main>
      {isHelping ? <Help close={() => setHelping(false)} /> : null}
    </>
  );
}

function View({ place }: { readonly place: Place }) {
  const { view, parts, query } = place;
  switch (view) {
    case "fleet":
      return <FleetView />;
    case "node":
      return <NodeView key={parts[0]} id={parts[0] ?? ""} parts={parts.slice(1)} query={query} />;
    case "config":
      return <ConfigView place={place} />;
    case "change":
      return <ChangeView place={place} />;
    case "history":
      return <HistoryView place={place} />;
    case "problems":
      return <ProblemsView chosen={parts[0]} />;
    default:
      return (
        <>
          <h1>There is no such page</h1>
          <p>
            <a href={linkTo("fleet")}>To the fleet</a>
          </p>
        </>
      );
  }
}

function Head({
  view,
  problems,
  help,
}: {
  readonly view: string;
  readonly problems: ProblemList | undefined;
  help(): void;
}) {
  const { errors = 0, warnings = 0 } = problems ?? {};
  return (
    <header class="head">
      <a class="logo" href={linkTo("fleet")} aria-label="xdskit, to the fleet">
        <img src="./icon.svg" alt="" width="22" height="22" />
        <span>xdskit</span>
      </a>
      <nav aria-label="Views">
        {views.map(([one, name]) => (
          <a key={one} href={linkTo(one)} aria-current={one === view ? "page" : undefined}>
            {/* On a small screen there is room for the first half. */}
            {one === "config" ? (
              <span>
                Config<span class="rest">uration</span>
              </span>
            ) : (
              name
            )}
            {one === "problems" ? (
              <>
                <Badge severity="error" count={errors} />
                <Badge severity="warning" count={warnings} />
              </>
            ) : null}
          </a>
        ))}
      </nav>
      <div class="head-end">
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

/** Said only while it is so: a page that shows old data must not look alive. */
function ConnectionLost() {
  const [connection, setConnection] = useState<Connection>("connecting");
  useEffect(() => onConnection(setConnection), []);
  return (
    <div role="status">
      {connection === "lost" ? (
        <p class="lost">The server does not answer. What you see is from before; the page tries again by itself.</p>
      ) : null}
    </div>
  );
}

function Help({ close }: { close(): void }) {
  const rows = [
    ["/", "search"],
    ["j k", "next, previous row"],
    ["Enter o", "open the row"],
    ["x", "History: choose the row for a comparison"],
    ...views.map(([, name, key]) => [key, name]),
    ["t", "times: how long ago, or exact"],
    ["?", "this list"],
  ];
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {rows.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key?.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function skip(): void {
  document.getElementById("main")?.focus();
}

/** How many there are; nothing for none. */
function Badge({ severity, count }: { readonly severity: "error" | "warning"; readonly count: number }) {
  if (count === 0) return null;
  return (
    <span class={`badge badge-${severity}`} title={counted(count, severity)}>
      {count}
      <span class="hidden"> {count === 1 ? severity : `${severity}s`}</span>
    </span>
  );
}
