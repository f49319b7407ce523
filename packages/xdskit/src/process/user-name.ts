import { userInfo } from "node:os";

/** The user who runs this process, as the author of a change. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no entry in the system's list.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
