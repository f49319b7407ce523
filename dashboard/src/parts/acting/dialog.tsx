import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A question over the page. Escape closes it, and the browser keeps the focus inside. */
export function Dialog({
  title,
  close,
  children,
}: {
  readonly title: string;
  close(): void;
  readonly children: ComponentChildren;
}) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => place.current?.showModal(), []);
  return (
    <dialog ref={place} onClose={close} aria-labelledby="dialog-title">
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="small" onClick={() => place.current?.close()}>
          Close
        </button>
      </header>
      {children}
    </dialog>
  );
}
