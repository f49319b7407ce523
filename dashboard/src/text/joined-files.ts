/** A file as somebody chose it. */
export interface ChosenFile {
  /** With the folders above it, where they are known. */
  readonly name: string;
  readonly text: string;
}

/** Several files as one text. */
export type JoinedFiles = ReturnType<typeof joinFiles>;

/** Joins files as documents: each begins behind a line `---`. */
export function joinFiles(files: readonly ChosenFile[]) {
  const lines: string[] = [];
  const starts: { readonly name: string; readonly start: number; readonly count: number }[] = [];
  for (const { name, text } of files) {
    if (lines.length > 0) lines.push("---");
    const own = text.replaceAll("\r\n", "\n").replace(/\n+$/, "").split("\n");
    starts.push({ name, start: lines.length, count: own.length });
    for (const line of own) lines.push(line);
  }
  return {
    text: `${lines.join("\n")}\n`,
    /** The file of a line of the text, and its line there, both from 1. Undefined: no file has it. */
    placeOf(line: number) {
      const found = starts.find(({ start, count }) => line > start && line <= start + count);
      return found && { file: found.name, line: line - found.start };
    },
  };
}
