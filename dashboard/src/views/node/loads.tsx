import type { NodeLoad } from "../../api/types.js";
import { useLive } from "../../api/use-live.js";
import { Time } from "../../parts/time.js";
import { numberText } from "../../text/counts.js";

const countNames = ["Successful", "Errors", "In progress", "Dropped"];

/** The last load reports of a node; nothing where it sends none. */
export function Loads({ path }: { readonly path: string }) {
  const { data } = useLive<{ readonly loads: readonly NodeLoad[] }>(`${path}/loads`);
  if (data === undefined || data.loads.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll.
    <section class="panel scroll stack" aria-labelledby="loads-title" tabIndex={0}>
      <h2 id="loads-title">Load that it reports</h2>
      <table>
        <thead>
          <tr>
            {["Cluster", ...countNames, "Reported"].map((name) => (
              <th scope="col" key={name} class={name === "Cluster" ? "" : "number"}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.loads.map(({ cluster, successful, errors, inProgress, dropped, at }) => (
            <tr key={cluster}>
              <th scope="row">{cluster}</th>
              {[successful, errors, inProgress, dropped].map((count, index) => (
                <td key={index} class="number" data-label={countNames[index]}>
                  {numberText(count)}
                </td>
              ))}
              <td class="number" data-label="Reported">
                <Time at={at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
