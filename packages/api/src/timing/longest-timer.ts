/** The longest time that Node's timers know, 24 days; a longer one would fire at once. Milliseconds. */
export const longestTimerMs = 2 ** 31 - 1;
