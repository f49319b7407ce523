export { serverChecks } from "./checks/all-checks.js";
export { clientChecks } from "./checks/client/client-checks.js";
export type { Check, Level, Sentence, Tier } from "./checks/contract/check.js";
export { main } from "./command/main.js";
export type { Terminal } from "./report/terminal.js";
