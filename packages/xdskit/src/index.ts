export { main } from "./main.js";
export { exitStatus } from "./process/exit-status.js";
export { version } from "./process/version.js";
