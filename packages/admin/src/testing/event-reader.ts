/** An event as it came. */
export interface ReadEvent {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes.
  readonly data: any;
}

/** Reads server-sent events. */
export class EventReader implements AsyncDisposable {
  readonly events: ReadEvent[] = [];
  readonly #abort = new AbortController();
  #over = false;

  static async open(base: string, last?: string): Promise<EventReader> {
    const reader = new EventReader();
    const response = await fetch(`${base}events`, {
      signal: reader.#abort.signal,
      headers: last === undefined ? {} : { "last-event-id": last },
    });
    if (response.status !== 200 || response.body === null) throw new Error(`${response.status}`);
    void reader
      .#read(response.body)
      .catch(() => {})
      .finally(() => {
        reader.#over = true;
      });
    return reader;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** The first event that fits, waited for. */
  async seen(fits: (event: ReadEvent) => boolean): Promise<ReadEvent> {
    for (let tries = 0; tries < 500; tries += 1) {
      const found = this.events.find(fits);
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`it never came: ${JSON.stringify(this.events)}`);
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
        const [id, event, data] = [field("id"), field("event"), field("data")];
        if (id !== undefined && event !== undefined && data !== undefined)
          this.events.push({ id, event, data: JSON.parse(data) });
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
  }
}
