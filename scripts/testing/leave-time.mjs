// Loaded first into each process of a run of tests from their sources.
import { leaveTime } from "./processor-time.mjs";

leaveTime();
