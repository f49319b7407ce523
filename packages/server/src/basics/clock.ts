export { type Clock, systemClock } from "@xdskit/api";
