import { parseJsonText, XdskitError } from "@xdskit/api";

/** What `export` writes and `import` reads. */
export interface ExportFile {
  /** Says what kind of file it is, and of which version. */
  readonly format: typeof exportFormat;
  /** As ISO 8601 writes it. */
  readonly time: string;
  readonly layers: readonly ExportedLayer[];
}

/** All that a layer had. */
export interface ExportedLayer {
  readonly name: string;
  /** Null: nothing was ever put into it. */
  readonly revision: string | null;
  /** As in the files of a folder. */
  readonly resources: readonly object[];
}

/** A newer format has another number. */
export const exportFormat = "xdskit-export/1";

/** Reads the text of such a file; throws an XdskitError if it is something else. */
export function parseExport(text: string, file: string): ExportFile {
  const read = parseJsonText(text);
  if (read.kind === "problem") {
    const { message, line, column } = read;
    throw XdskitError.of("XDSKIT_SYNTAX", message, { file, line, column });
  }
  const value: unknown = read.value;
  const { format, layers } = (value ?? {}) as Partial<Record<keyof ExportFile, unknown>>;
  if (typeof format === "string" && format.startsWith("xdskit-export/") && format !== exportFormat)
    throw wrong(file, `it is of the format ${format}, and this xdskit reads ${exportFormat}`);
  if (format !== exportFormat || !Array.isArray(layers))
    throw wrong(file, 'it is no file of "xdskit export"; for resource files there is "xdskit apply -f"');
  if (!layers.every(isLayer)) throw wrong(file, "a layer in it has no name, or no list of resources");
  return value as ExportFile;
}

function isLayer(value: unknown): boolean {
  const { name, resources } = (value ?? {}) as Partial<ExportedLayer>;
  return typeof name === "string" && Array.isArray(resources);
}

function wrong(file: string, message: string): XdskitError {
  return XdskitError.of("XDSKIT_FILE_FORM", message, { file });
}
