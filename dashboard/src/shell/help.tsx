import { Dialog } from "../parts/acting/dialog.js";
import { useViews } from "./use-views.js";

/** The list of keys. */
export function Help({ close }: { close(): void }) {
  const rows = [
    ["Ctrl K", "find a node, a resource, a revision, or an action"],
    ["/", "search in this view"],
    ["j k", "next, previous row"],
    ["Enter o", "open the row"],
    ["x", "History: choose the row for a comparison"],
    ...useViews().map(([, name, key]) => [key, name]),
    ["t", "times: how long ago, or exact"],
    ["?", "this list"],
  ];
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {rows.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key?.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
