export { logCertificates } from "./certificate-log.js";
export { createEventLog, type LoggedServerOptions, logServer, type WhereLogged } from "./event-log.js";
export { largeText } from "./large-text.js";
export { limitLines } from "./line-limit.js";
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
