import type { ComponentChildren } from "preact";
import { Failure } from "../message.js";
import { Dialog } from "./dialog.js";
import { useAct } from "./use-act.js";

/** Asks before something is done: `children` say what it will do. */
export function Confirm({
  title,
  word,
  kind,
  run,
  done,
  close,
  children,
}: {
  readonly title: string;
  /** Stands on the button. */
  readonly word: string;
  readonly kind: "primary" | "danger";
  run(): Promise<unknown>;
  /** Called once it is done. */
  done(): void;
  close(): void;
  readonly children: ComponentChildren;
}) {
  const { error, isBusy, act } = useAct();
  const confirmed = async () => {
    await run();
    done();
    close();
  };
  return (
    <Dialog title={title} close={close}>
      {error === undefined ? null : <Failure error={error} />}
      {children}
      <div class="form-row dialog-end">
        <button type="button" class={kind} disabled={isBusy} onClick={() => void act(confirmed)}>
          {word}
        </button>
      </div>
    </Dialog>
  );
}
