import type { IncomingMessage, ServerResponse } from "node:http";
import { type AuditAction, auditActions } from "../contract/audit.js";
import type { Access } from "./access.js";
import type { AuditLog } from "./audit-log.js";

/** What a request does, for the audit; undefined: it only reads. */
function auditedAction(method: string, path: string): AuditAction | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  const [, thing = "", rest = ""] = /^\/api\/v1\/(\w+)(?:\/(.*))?$/.exec(path) ?? [];
  const last = rest.slice(rest.lastIndexOf("/") + 1);
  if (thing === "layers") return last === "rollback" ? "rollback" : method === "DELETE" ? "delete" : "change";
  if (thing === "leases") return method === "DELETE" ? "lease end" : "lease renew";
  if (thing === "rollouts") return auditActions.find((action) => action === `rollout ${last}`) ?? "rollout ?";
  return thing === "quarantines" ? "quarantine lift" : "?";
}

/** Notes at once that a caller came, and, once it was answered, a request that changes something or is refused. */
export function auditRequest(log: AuditLog, access: Access, request: IncomingMessage, response: ServerResponse): void {
  const { method = "", url = "", socket } = request;
  const [target = ""] = url.split("?", 1);
  const action = auditedAction(method, target);
  // Asked now: afterwards the connection may be gone.
  const caller = access.callerOf(request);
  const from = socket.remoteAddress ?? "unix";
  const proved =
    caller === "anybody" ? { who: caller, rule: null } : { who: caller?.name ?? null, rule: caller?.rule ?? null };
  const { who, rule } = proved;
  // A request for events is answered for hours.
  if (rule !== null && who !== null && log.logins.isLogin(`${rule} ${who}`, from, Date.now()))
    log.add({ ...proved, from, action: "login", target, result: "done" });
  response.once("close", () => {
    const { statusCode: status } = response;
    const isRefused = status === 401 || status === 403;
    if (action === undefined && !isRefused) return;
    const result = isRefused ? "refused" : status < 300 ? "done" : "failed";
    log.add({ ...proved, from, action: action ?? "read", target, result, status });
  });
}
