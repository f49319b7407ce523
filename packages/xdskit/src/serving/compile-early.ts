import { setFlagsFromString } from "node:v8";

/**
 * From now on V8 makes machine code of a function when it first runs (its baseline compiler, which takes little time), and does not interpret it first. What serves clients
 * has not run yet when a server becomes ready: its first thousands of pushes cost less so. Before that it would cost the start, whose functions mostly run once.
 *
 * For the whole process and for good: only a program may decide so, no library. V8 reads the flag whenever it compiles a function, so that it may change at any time.
 */
export function compileEarly(): void {
  setFlagsFromString("--always-sparkplug");
}
