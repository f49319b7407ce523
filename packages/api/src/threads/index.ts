export { ReadingThread } from "./reading-thread.js";
export { answerOf, startThread } from "./threads.js";
