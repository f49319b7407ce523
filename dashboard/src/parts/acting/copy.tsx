import { useState } from "preact/hooks";

interface CopyProps {
  readonly label: string;
  /** Undefined: it is not known yet. */
  readonly text: string | (() => string) | undefined;
}

/** A button that copies a text. */
export function Copy({ label, text }: CopyProps) {
  const [done, setDone] = useState<"no" | "yes" | "failed">("no");
  const copy = async () => {
    if (text === undefined) return;
    const copied = await copyText(typeof text === "string" ? text : text());
    setDone(copied ? "yes" : "failed");
    setTimeout(() => setDone("no"), 1_500);
  };
  return (
    <button type="button" class="small" disabled={text === undefined} onClick={() => void copy()}>
      {done === "yes" ? "Copied" : done === "failed" ? "Not copied" : label}
      <span class="hidden" role="status">
        {done === "yes" ? `${label}: copied` : ""}
      </span>
    </button>
  );
}

/** Over plain HTTP the clipboard is there for localhost only: elsewhere the browser's old way is left. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
