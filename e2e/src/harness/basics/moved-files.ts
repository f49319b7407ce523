import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Certificate } from "../../../../packages/api/src/testing/certificates.js";

/** Files beside each other, as a server and its clients read them: new ones are moved over them. */
export interface MovedFiles {
  /** Resolves to the path. */
  put(name: string, text: string): Promise<string>;
  /** Writes `NAME.pem` and `NAME.key`; resolves to the options that name them. */
  putPair(name: string, pair: Certificate): Promise<readonly string[]>;
}

export function movedFiles(directory: string): MovedFiles {
  const put = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
    return path;
  };
  return {
    put,
    putPair: async (name, { certificate, key }) => [
      ...["--tls-cert", await put(`${name}.pem`, certificate)],
      ...["--tls-key", await put(`${name}.key`, key)],
    ],
  };
}
