import { type Clock, XdskitError } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Watch } from "../contract/watch.js";
import type { GetOptions } from "../contract/xds-client.js";
import type { Watcher } from "./delivery.js";

/** The first answer of a watch. `closed` rejects it. */
export function getResource(
  start: (watcher: Watcher<ReceivedResource>) => Watch,
  { signal, timeout }: GetOptions,
  clock: Clock,
  onClose: (reject: (error: XdskitError) => void) => () => void,
): Promise<ReceivedResource> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const ends: (() => void)[] = [];
    const end = (settle: () => void) => {
      for (const each of ends.splice(0)) each();
      settle();
    };
    const fail = (error: unknown) => end(() => reject(error));
    const watch = start({ onChanged: (resource) => end(() => resolve(resource)), onError: fail });
    ends.push(() => watch.cancel(), onClose(fail));
    if (timeout !== undefined) {
      ends.push(
        clock.after(timeout, () =>
          fail(XdskitError.of("XDSKIT_CLIENT_TIMEOUT", `there was no answer within ${timeout} ms`)),
        ),
      );
    }
    if (signal !== undefined) {
      const abort = () => fail(signal.reason);
      signal.addEventListener("abort", abort);
      ends.push(() => signal.removeEventListener("abort", abort));
    }
  });
}
