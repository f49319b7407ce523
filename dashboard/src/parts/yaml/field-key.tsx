import { useEffect, useId, useRef, useState } from "preact/hooks";
import { get, pathOf } from "../../api/request.js";
import type { Field } from "../../api/types.js";
import { besides, type CardPlace, FieldCard } from "./field-card.js";

/** What was asked before. */
const known = new Map<string, Promise<Field | undefined>>();

/**
 * The name of a field. The mouse on it, or the focus, shows what the field is; Escape closes that. It links to Envoy's
 * documentation. Of the keys of a text only one is reached with Tab: the arrows go on from there.
 */
export function Key({
  name,
  message,
  path,
  isStop = false,
}: {
  readonly name: string;
  readonly message: string;
  readonly path: readonly string[];
  /** The tabulator stops here. */
  readonly isStop?: boolean;
}) {
  const [field, setField] = useState<Field | undefined>(undefined);
  /** Where its card stands, in pixels of the window; undefined: it is closed. */
  const [place, setPlace] = useState<CardPlace | undefined>(undefined);
  const isKnown = message !== "" && !name.startsWith('"@');
  const isGone = useRef(false);
  const id = useId();
  useEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  if (!isKnown) return <span class="key">{name}</span>;
  const open = ({ currentTarget }: { readonly currentTarget: Element }) => {
    setPlace(besides(currentTarget));
    void fieldOf(message, path).then((found) => {
      if (!isGone.current) setField(found);
    });
  };
  const close = () => setPlace(undefined);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the link inside has the focus; to point at it does the same.
    <span class="key-place" onMouseEnter={open} onMouseLeave={close}>
      <a
        class="key"
        href={field?.docs ?? undefined}
        target="_blank"
        rel="noreferrer"
        aria-describedby={place === undefined ? undefined : id}
        tabIndex={isStop ? 0 : -1}
        onFocus={open}
        onBlur={close}
        onKeyDown={(event) => {
          if (event.key === "Escape") close();
          const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (step !== 0 && moved(event.currentTarget, step)) event.preventDefault();
        }}
      >
        {name}
      </a>
      {place === undefined ? null : <FieldCard id={id} name={path.join(".")} field={field} place={place} />}
    </span>
  );
}

/** To the key on another line of the same text. */
function moved(from: Element, step: number): boolean {
  const keys = [...(from.closest("pre")?.querySelectorAll<HTMLElement>("a.key") ?? [])];
  const next = keys[keys.indexOf(from as HTMLElement) + step];
  next?.focus();
  return next !== undefined;
}

function fieldOf(message: string, path: readonly string[]): Promise<Field | undefined> {
  const asked = `fields/${pathOf(message, path.join("."))}`;
  const answer = known.get(asked) ?? get<Field>(asked).catch(() => undefined);
  known.set(asked, answer);
  return answer;
}
