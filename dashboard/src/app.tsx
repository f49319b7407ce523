import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Connection, onConnection } from "./api/events.js";
import type { ProblemList } from "./api/types.js";
import { useLive } from "./api/use-live.js";
import { useServerName } from "./api/use-ports.js";
import { focusSearch, type Keys, useKeys } from "./parts/keys.js";
import { changeTimeStyle } from "./parts/time.js";
import { go, linkTo, type Place, usePlace } from "./router.js";
import { Head } from "./shell/head.js";
import { Help } from "./shell/help.js";
import { Palette } from "./shell/palette.js";
import { viewName, views } from "./shell/views.js";
import { AuditView } from "./views/audit/audit-view.js";
import { ChangeView } from "./views/change/change-view.js";
import { ConfigView } from "./views/config/config-view.js";
import { FleetView } from "./views/fleet/fleet-view.js";
import { HistoryView } from "./views/history/history-view.js";
import { NodeView } from "./views/node/node-view.js";
import { ProblemsView } from "./views/problems/problems-view.js";
import { RolloutsView } from "./views/rollouts/rollouts-view.js";
import { ServicesView } from "./views/services/services-view.js";

/** What is over the page. Opened anew it is another one, also if the browser has not told that the last was closed. */
interface Over {
  readonly what: "keys" | "find";
  readonly count: number;
}

/** The page: its head, and the view that the link names. */
export function App() {
  const place = usePlace();
  const [over, setOver] = useState<Over>();
  const opened = useRef(0);
  const show = (what: Over["what"]) => {
    opened.current += 1;
    setOver({ what, count: opened.current });
  };
  const problems = useLive<ProblemList>("problems");
  // A warning does not make an error worse.
  const count = problems.data?.errors || problems.data?.warnings || 0;
  const view = place.view === "" ? "fleet" : place.view;
  const name = view === "node" ? (place.parts[0] ?? "") : (viewName(view) ?? "");
  const server = useServerName();
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${name} · ${server === "" ? "" : `${server} · `}xdskit`;
  }, [count, name, server]);
  const keys = useMemo<Keys>(
    () => ({
      "/": focusSearch,
      "?": () => show("keys"),
      "Ctrl k": () => show("find"),
      t: changeTimeStyle,
      ...Object.fromEntries(views.map(([one, , key]) => [key, () => go(linkTo(one))])),
    }),
    [],
  );
  useKeys(keys);
  // At once: an effect of the new place may come so late that it closes what was opened there.
  useEffect(() => {
    const moved = () => setOver(undefined);
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  // A browser tells late that a dialog was closed: the next one may be open by then.
  const close = () => setOver((now) => (now === over ? undefined : now));
  // The view has answers of its own: those about problems change nothing in it.
  const shown = useMemo(() => <View place={{ ...place, view }} />, [place, view]);
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        To the content
      </button>
      <Head
        view={view === "node" ? "fleet" : view}
        server={server}
        problems={problems.data}
        find={() => show("find")}
        help={() => show("keys")}
      />
      <ConnectionLost />
      <main id="main" tabIndex={-1}>
        {shown}
      </main>
      {over?.what === "keys" ? <Help key={over.count} close={close} /> : null}
      {over?.what === "find" ? <Palette key={over.count} close={close} /> : null}
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
    case "rollouts":
      return <RolloutsView />;
    case "history":
      return <HistoryView place={place} />;
    case "problems":
      return <ProblemsView chosen={parts[0]} />;
    case "services":
      return <ServicesView query={query} />;
    case "audit":
      return <AuditView query={query} />;
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

function skip(): void {
  document.getElementById("main")?.focus();
}
