import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../parts/acting/dialog.js";
import { go, linkTo } from "../router.js";
import { findAll, type Target } from "./find-all.js";
import { useViews } from "./use-views.js";

/** How long after the last key the search begins, in milliseconds. */
const pauseMs = 120;

const signs: Readonly<Record<Target["kind"], string>> = { node: "⬡", resource: "▤", revision: "↺", action: "→" };

/** Finds anything by a part of its name: arrows choose, Enter goes there. */
export function Palette({ close }: { close(): void }) {
  const [text, setText] = useState("");
  const [chosen, choose] = useState(0);
  const { found: all, isBusy } = useFound(text);
  const hasServices = useViews().some(([view]) => view === "services");
  const found = all.filter(({ link }) => hasServices || link !== linkTo("services"));
  const list = useRef<HTMLDivElement>(null);
  const target = found[Math.min(chosen, found.length - 1)];
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }));
  const goTo = ({ link }: Target) => {
    close();
    go(link);
  };
  // Who types and presses Enter at once means what fits the whole text, and not what is still shown.
  const [isAwaited, setAwaited] = useState(false);
  useEffect(() => {
    if (!isAwaited || isBusy) return;
    setAwaited(false);
    if (target !== undefined) goTo(target);
  }, [isAwaited, isBusy]);
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
  return (
    <Dialog title="Find" close={close}>
      <input
        type="search"
        class="palette-text"
        // biome-ignore lint/a11y/noRedundantRoles: a field is a combobox only with a list of the browser's.
        role="combobox"
        list={undefined}
        aria-label="A node, a resource, a revision or an action"
        aria-expanded={found.length > 0}
        aria-controls="palette-list"
        aria-activedescendant={target === undefined ? undefined : `palette-${found.indexOf(target)}`}
        placeholder="A node, a resource, a revision or an action"
        value={text}
        ref={(field) => field?.focus()}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAwaited(false);
          choose(0);
        }}
        onKeyDown={(event) => {
          const step = steps[event.key];
          if (event.key === "Enter") setAwaited(true);
          else if (step !== undefined && found.length > 0)
            choose((Math.min(chosen, found.length - 1) + step + found.length) % found.length);
          else return;
          event.preventDefault();
        }}
      />
      <div id="palette-list" class="palette-list" role="listbox" aria-label="What fits" ref={list}>
        {found.map((one, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the field, as a list of choices has it.
          <div
            key={`${one.kind} ${one.link} ${one.name}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={one === target}
            tabIndex={-1}
            onClick={() => goTo(one)}
          >
            <span aria-hidden="true">{signs[one.kind]}</span>
            <span class="palette-name">{one.name}</span>
            <small>{one.detail}</small>
            <small class="palette-kind">{one.kind}</small>
          </div>
        ))}
      </div>
      <p class="quiet" role="status">
        {found.length === 0 ? (isBusy ? "Searching …" : "Nothing fits.") : ""}
      </p>
    </Dialog>
  );
}

/** What fits the text; what fitted before stays until the answer is there. */
function useFound(text: string) {
  const [state, setState] = useState<{ readonly found: readonly Target[]; readonly of: string | undefined }>({
    found: [],
    of: undefined,
  });
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(
      () => {
        findAll(text, abort.signal).then(
          (found) => abort.signal.aborted || setState({ found, of: text }),
          () => {},
        );
      },
      text === "" ? 0 : pauseMs,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return { found: state.found, isBusy: state.of !== text };
}
