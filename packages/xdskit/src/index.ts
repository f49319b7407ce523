export { exitStatus, main } from "./main.js";
export { version } from "./version.js";
