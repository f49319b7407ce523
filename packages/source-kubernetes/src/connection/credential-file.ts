import { readFile } from "node:fs/promises";
import { XdskitError } from "@xdskit/api";

/** The text of a file with something that proves who asks, or who answers. Rejects with XDSKIT_KUBECONFIG. */
export async function credentialFile(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code ?? cause.message;
    throw XdskitError.of("XDSKIT_KUBECONFIG", `it cannot be read: ${reason}`, { file }, { cause });
  });
}
