let underWay = 0;

/**
 * Does work of LMDB's package during which a process that exits is killed.
 *
 * The package writes in a thread that waits, within a transaction, for JavaScript. A process that exits runs no more of
 * it, and waits for that thread: it would wait for ever, and keep its ports. To be killed costs nothing: what was not
 * acknowledged was not promised.
 */
export async function killedAtExit<T>(work: () => Promise<T>): Promise<T> {
  if (underWay === 0) process.on("exit", kill);
  underWay += 1;
  try {
    return await work();
  } finally {
    underWay -= 1;
    if (underWay === 0) process.off("exit", kill);
  }
}

function kill(): void {
  process.kill(process.pid, "SIGKILL");
}
