import { useState } from "preact/hooks";

const key = "xdskit-author";
const maxAuthor = 100;

/** Why somebody changes something, and who. */
export interface Said {
  readonly reason: string;
  readonly author: string;
}

/** What is said of a change that is about to be made; the browser remembers who one is. */
export function useSaid(): readonly [Said, (change: Partial<Said>) => void] {
  const [said, setSaid] = useState<Said>(() => ({ reason: "", author: localStorage.getItem(key) ?? "" }));
  const change = (part: Partial<Said>) => {
    if (part.author !== undefined) localStorage.setItem(key, part.author);
    setSaid((before) => ({ ...before, ...part }));
  };
  return [said, change];
}

/** The fields for it. Both stand in the history. */
export function ReasonFields({
  said: { reason, author },
  change,
}: {
  readonly said: Said;
  change(part: Partial<Said>): void;
}) {
  return (
    <>
      <label class="grow">
        <span class="hidden">Why</span>
        <input
          placeholder="Why? It stands in the history"
          value={reason}
          onInput={({ currentTarget }) => change({ reason: currentTarget.value })}
        />
      </label>
      <label>
        <span class="hidden">Your name</span>
        <input
          placeholder="Your name"
          autocomplete="name"
          maxLength={maxAuthor}
          value={author}
          onInput={({ currentTarget }) => change({ author: currentTarget.value })}
        />
      </label>
    </>
  );
}
