import type { CheckedStream } from "../../client/checked-stream.js";
import { contentFor } from "../../client/client-content.js";
import type { ClientPeer } from "../../client/client-peer.js";
import { hold, needed } from "../../verdicts/verdicts.js";
import type { SentRequest } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { known } from "./answering.js";

const [cluster, endpoint, route] = ["cluster", "endpoint", "route"].map(typeUrlOf) as [string, string, string];

/** A server with a listener, its routes and the cluster that they lead to. */
class ServingPeer {
  readonly #stream: CheckedStream;
  readonly #answered = new Map<string, string>();
  #version = 0;
  #cluster = "a";

  constructor(stream: CheckedStream) {
    this.#stream = stream;
  }

  /** Answers what the client asks for until it is so. Throws Failed if it does not become so. */
  async until(what: string, isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      const request = await this.#stream.next(what, ({ type }) => known.has(type));
      hold(request.error === undefined, `the client rejected the response: ${request.error}`);
      const asked = [...this.#stream.subscribed(request.type)].sort().join();
      if (this.#answered.get(request.type) === asked) continue;
      this.#answered.set(request.type, asked);
      this.#send(request);
    }
  }

  #send(request: SentRequest, removed: readonly string[] = []): void {
    this.#stream.send(request.type, `v${++this.#version}`, contentFor(request, this.#cluster), removed);
  }

  /** The routes lead to another cluster from now on; the old one is gone. */
  move(): void {
    this.#cluster = "b";
    const routes = [...this.#stream.subscribed(route)];
    if (routes.length > 0) this.#send({ type: route, names: routes });
    // A client that names clusters stops naming the old one by itself.
    const isAll = [...this.#stream.subscribed(cluster)].every((name) => name === "*");
    if (isAll && this.#answered.has(cluster)) this.#send({ type: cluster, names: ["b"] }, ["a"]);
  }
}

async function following(client: ClientPeer): Promise<{ stream: CheckedStream; serving: ServingPeer }> {
  await client.start();
  const stream = await client.stream();
  const serving = new ServingPeer(stream);
  await needed(
    () => serving.until("a request for what others name", () => stream.subscribed(endpoint).has("a")),
    "the client asks for nothing that other resources name",
  );
  return { stream, serving };
}

/** What clients ask for because other resources name it. */
export const followingChecks: readonly CheckBody<ClientPeer>[] = [
  {
    id: "client-unsubscribe",
    says: "When nothing leads to a cluster any more, the client does not ask for its endpoints any more.",
    because: "Unsubscribing: a new request without the resource names that are not subscribed to any more.",
    link: documents.unsubscribing,
    level: "SHOULD",
    async run(client) {
      const { stream, serving } = await following(client);
      serving.move();
      await serving.until("a request without the endpoints of a", () => {
        const asked = stream.subscribed(endpoint);
        return asked.has("b") && !asked.has("a");
      });
    },
  },
];
