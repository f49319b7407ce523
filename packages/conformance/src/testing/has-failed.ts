import type { Result } from "../run/result.js";

/** Whether the peer was found not to do what the check says. */
export const hasFailed = ({ check, status, message = "" }: Result): boolean =>
  status === "failed" || (check.level === "either" && message.startsWith("otherwise"));
