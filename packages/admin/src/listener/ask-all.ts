import type { PeerServer } from "../contract/peers.js";

/** Says which servers did not answer; missing: all did. */
export interface AllAnswered {
  readonly silent?: readonly { readonly replica: string; readonly reason: string }[];
}

/** The answers of all other servers, with their names. */
export interface AnswersOfAll<T> extends AllAnswered {
  readonly answers: readonly { readonly replica: string; readonly answer: T }[];
}

/** Asks the other servers of the store the same, at once. Does not reject. */
export async function askAll<T>(
  peers: readonly PeerServer[],
  question: string,
  asked: unknown = null,
): Promise<AnswersOfAll<T>> {
  return await askEach(peers, ({ ask }) => ask(question, asked) as Promise<T>);
}

/** The same for what takes more than one question. */
export async function askEach<T>(
  peers: readonly PeerServer[],
  askOne: (peer: PeerServer) => Promise<T>,
): Promise<AnswersOfAll<T>> {
  const settled = await Promise.allSettled(peers.map(askOne));
  const answers: { replica: string; answer: T }[] = [];
  const silent: { replica: string; reason: string }[] = [];
  for (const [index, one] of settled.entries()) {
    const replica = peers[index]?.name ?? "";
    if (one.status === "fulfilled") answers.push({ replica, answer: one.value });
    else silent.push({ replica, reason: (one.reason as Error).message });
  }
  return { answers, ...(silent.length === 0 ? {} : { silent }) };
}
