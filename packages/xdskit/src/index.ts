export { exitStatus } from "./exit-status.js";
export { main } from "./main.js";
export { version } from "./version.js";
