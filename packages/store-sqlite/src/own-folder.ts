import { lstat, stat } from "node:fs/promises";
import { XdskitError } from "@xdskit/api";

const othersWrite = 0o002;
const groupWrites = 0o020;

/**
 * Rejects with XDSKIT_STORE if another user may write to a folder: what they put there would be served. Folders and
 * links of root are as good as own ones (systemd makes links), and so is a group that this process is in (Kubernetes
 * gives the volumes of a pod to one).
 */
export async function mustBeOwn(directory: string): Promise<void> {
  // There are no such modes on Windows.
  const user = process.geteuid?.();
  if (user === undefined) return;
  const [link, folder] = [await lstat(directory), await stat(directory)];
  if (![link.uid, folder.uid].every((owner) => owner === user || owner === 0)) {
    const what = link.isSymbolicLink() ? "it, or what it links to," : "it";
    throw foreign(directory, `${what} belongs to another user`);
  }
  const { mode, gid } = folder;
  const isOwnGroup = gid === process.getegid?.() || (process.getgroups?.() ?? []).includes(gid);
  if ((mode & othersWrite) === 0 && ((mode & groupWrites) === 0 || isOwnGroup)) return;
  const octal = (mode & 0o7777).toString(8).padStart(4, "0");
  throw foreign(directory, `other users may write to it (mode ${octal}; "chmod go-w" takes that away)`);
}

function foreign(directory: string, reason: string): XdskitError {
  return XdskitError.of("XDSKIT_STORE", `it is not used, since ${reason}`, { file: directory });
}
