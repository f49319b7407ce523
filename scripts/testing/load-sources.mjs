// Loaded first into each process of a run of tests from their sources.
import { isOfRunner } from "./left-by-process.mjs";
import { leaveTime } from "./processor-time.mjs";
import { answerRunner } from "./unended-process.mjs";

if (isOfRunner()) {
  leaveTime();
  answerRunner();
}
