export { logCertificates } from "./certificate-log.js";
export { type LoggedServerOptions, logAdminRefusals, logServer, Refusals, type WhereLogged } from "./event-log.js";
export {
  createLog,
  type Fields,
  type Log,
  type LogColour,
  type LogLine,
  type LogOptions,
  type LogOutput,
} from "./log.js";
export { type LogEvent, logEvents } from "./log-events.js";
export { logFinding } from "./log-finding.js";
