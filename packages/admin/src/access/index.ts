export type { AuditEntry, AuditQuery } from "../contract/audit.js";
export { Access, type AccessSettings, type Role, type TrustedProxies } from "./access.js";
export { auditActionFault, auditEntryOf, isAskedFor } from "./audit-lines.js";
export { AuditLog, type AuditOptions, appendTo, refusedCall } from "./audit-log.js";
export { usualWritesPerSecond } from "./write-shares.js";
