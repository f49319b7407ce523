import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stringify } from "yaml";

/** A resource as it stands in a file: `@type` and the fields. */
export type ResourceText = { readonly "@type": string } & Readonly<Record<string, unknown>>;

/** Resources by file name (`clusters.yaml`, `big.json`, `folder/file.yaml`). */
export type Files = Readonly<Record<string, readonly ResourceText[]>>;

/** The folder that the server under test serves: a symbolic link to where the files lie. */
export interface ConfigFolder {
  /** The link. */
  readonly path: string;
  /** Writes files by renaming over them, all at about the same moment. */
  put(files: Files): Promise<void>;
  /** Writes a file as it is given. */
  putText(name: string, text: string | Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes another folder with exactly these files and turns the link to it: one atomic change. */
  swap(files: Files): Promise<void>;
}

export async function createConfigFolder(directory: string, files: Files): Promise<ConfigFolder> {
  const path = join(directory, "config");
  let counter = 0;
  const putText = async (name: string, text: string | Uint8Array): Promise<void> => {
    counter += 1;
    const draft = join(path, `.draft-${counter}`);
    await writeFile(draft, text);
    await rename(draft, join(path, name));
  };
  const folder: ConfigFolder = {
    path,
    async put(files) {
      await Promise.all(Object.entries(files).map(([name, resources]) => putText(name, textOf(name, resources))));
    },
    putText,
    remove: (name) => rm(join(path, name)),
    async swap(files) {
      counter += 1;
      const target = `config-${counter}`;
      await mkdir(join(directory, target));
      for (const [name, resources] of Object.entries(files)) {
        await mkdir(dirname(join(directory, target, name)), { recursive: true });
        await writeFile(join(directory, target, name), textOf(name, resources));
      }
      await symlink(target, join(directory, `link-${counter}`));
      await rename(join(directory, `link-${counter}`), path);
    },
  };
  await folder.swap(files);
  return folder;
}

const textOf = (name: string, resources: readonly ResourceText[]): string =>
  name.endsWith(".json") ? JSON.stringify({ resources }) : stringify({ resources }, { aliasDuplicateObjects: false });
