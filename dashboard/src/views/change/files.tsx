import { useRef } from "preact/hooks";
import type { ChosenFile } from "../../text/joined-files.js";

/** A body in YAML may have 4 MiB: more is not taken from files. */
const maxBytes = 4 * 1024 * 1024;
const isResources = (name: string) => /\.(ya?ml|json)$/i.test(name);

/** What came of a choice: files, or why there are none. */
export type Taken =
  | { readonly kind: "files"; readonly files: readonly ChosenFile[]; readonly isFolder: boolean }
  | { readonly kind: "nothing"; readonly why: string };

/** Takes resources from files of this machine. They are read here, and not sent anywhere before somebody asks. */
export function Files({ take }: { take(taken: Taken): void }) {
  const read = async (input: HTMLInputElement, isFolder: boolean) => {
    const chosen = [...(input.files ?? [])];
    // The same file, once it is edited, must be a new choice.
    input.value = "";
    if (chosen.length > 0) take(await taken(chosen, isFolder));
  };
  return (
    <>
      <Picker label="Take files …" take={(input) => void read(input, false)} isFolder={false} />
      <Picker label="Take a folder …" take={(input) => void read(input, true)} isFolder />
    </>
  );
}

function Picker({
  label,
  take,
  isFolder,
}: {
  readonly label: string;
  take(input: HTMLInputElement): void;
  readonly isFolder: boolean;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        {label}
      </button>
      <input
        ref={input}
        hidden
        type="file"
        multiple
        aria-label={label}
        {...(isFolder ? { webkitdirectory: true } : { accept: ".yaml,.yml,.json" })}
        onChange={({ currentTarget }) => take(currentTarget)}
      />
    </>
  );
}

async function taken(chosen: readonly File[], isFolder: boolean): Promise<Taken> {
  const named = chosen
    .map((file) => ({ file, name: file.webkitRelativePath || file.name }))
    // A folder also has what no server reads: hidden files, settings, notes.
    .filter(({ name }) => !isFolder || (isResources(name) && !/(^|\/)\.|\/xdskit\.yaml$/.test(name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  if (named.length === 0) return { kind: "nothing", why: "There is no file in YAML or JSON in this folder." };
  const bytes = named.reduce((sum, { file }) => sum + file.size, 0);
  if (bytes > maxBytes) {
    const largest = named.toSorted((a, b) => b.file.size - a.file.size)[0]?.name ?? "";
    const why = `These files have more than 4 MiB together (${largest} is the largest). Use xdskit apply -f for them.`;
    return { kind: "nothing", why };
  }
  const files = await Promise.all(named.map(async ({ file, name }) => ({ name, text: await file.text() })));
  return { kind: "files", files, isFolder };
}
