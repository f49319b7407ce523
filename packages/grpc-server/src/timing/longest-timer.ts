/** The longest time that Node's timers know, 24 days; a longer one would be over at once. Milliseconds. */
export const longestTimerMs = 2 ** 31 - 1;
