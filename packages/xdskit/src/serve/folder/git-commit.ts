import { execFile } from "node:child_process";
import { promisify } from "node:util";

const args = ["-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "--untracked-files=all", "--", "."];

/** The longest time that git may take, in milliseconds. */
const timeout = 5_000;

/** More than this is not read: it is known then that the folder differs. */
const maxBuffer = 1_000_000;

/**
 * The git commit that a folder is at, with `+dirty` if the folder differs from it; undefined where it is in no work
 * tree, or where git cannot tell.
 */
export async function gitCommit(folder: string): Promise<string | undefined> {
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: "0" };
  const run = promisify(execFile)("git", args, { cwd: folder, env, timeout, maxBuffer });
  const { stdout, isCut } = await run.then(
    (said) => ({ stdout: said.stdout, isCut: false }),
    ({ code, stdout: said = "" }) => ({ stdout: `${said}`, isCut: code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" }),
  );
  const commit = /^# branch\.oid ([0-9a-f]{40,64})$/m.exec(stdout)?.[1];
  if (commit === undefined) return undefined;
  return isCut || /^[^#]/m.test(stdout) ? `${commit}+dirty` : commit;
}
