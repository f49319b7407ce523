export { Access, type AccessSettings, type Role, type TrustedProxies } from "./access.js";
export { type AuditEntry, AuditLog, type AuditOptions, appendTo, refusedCall } from "./audit-log.js";
