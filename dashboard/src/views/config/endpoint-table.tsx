import { numberText } from "../../text/counts.js";

/** An endpoint as people think of it. */
export interface Endpoint {
  readonly address: string;
  readonly zone: string;
  readonly priority: number;
  readonly weight: number | undefined;
  readonly health: string;
}

type Json = Readonly<Record<string, unknown>>;

/** The endpoints in a load assignment, or inside a cluster. */
export function endpointsOf(resource: Json): readonly Endpoint[] {
  const content = part(resource.resource) ?? resource;
  const assignment = part(content.load_assignment) ?? content;
  return items(assignment.endpoints).flatMap((group) => {
    const { region = "", zone = "", sub_zone: subZone = "" } = part(group.locality) ?? {};
    const place = [region, zone, subZone].filter((text) => text !== "").join("/");
    const priority = typeof group.priority === "number" ? group.priority : 0;
    return items(group.lb_endpoints).map((one) => ({
      address: addressOf(one),
      zone: place,
      priority,
      weight: typeof one.load_balancing_weight === "number" ? one.load_balancing_weight : undefined,
      health: String(one.health_status ?? "UNKNOWN").toLowerCase(),
    }));
  });
}

export function EndpointTable({ endpoints }: { readonly endpoints: readonly Endpoint[] }) {
  return (
    <>
      <h3>Endpoints</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse must be able to scroll. */}
      <section class="scroll stack" aria-label="Endpoints" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Address</th>
              <th scope="col">Health</th>
              <th scope="col">Zone</th>
              <th scope="col" class="number">
                Priority
              </th>
              <th scope="col" class="number">
                Weight
              </th>
            </tr>
          </thead>
          <tbody>
            {endpoints.slice(0, 500).map(({ address, zone, priority, weight, health }) => (
              <tr key={`${address} ${zone} ${priority}`}>
                <th scope="row">
                  <code>{address}</code>
                </th>
                <td>
                  <Health health={health} />
                </td>
                <td class="nowrap">{zone}</td>
                <td class="number" data-label="Priority">
                  {priority}
                </td>
                <td class="number" data-label={weight === undefined ? undefined : "Weight"}>
                  {weight ?? ""}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {endpoints.length > 500 ? <p class="quiet">{numberText(endpoints.length - 500)} more</p> : null}
    </>
  );
}

/** What is not well, and not dead either, is told apart from both. */
const healths: Readonly<Record<string, readonly [state: string, sign: string]>> = {
  healthy: ["synced", "●"],
  degraded: ["pending", "◐"],
  draining: ["pending", "◐"],
};

/** `unknown` is what nobody said anything of: clients take it for well. */
function Health({ health }: { readonly health: string }) {
  if (health === "unknown") return <span class="quiet">○ unknown</span>;
  const [state, sign] = healths[health] ?? (["rejected", "✕"] as const);
  return (
    <span class={`state state-${state}`}>
      <span aria-hidden="true">{sign}</span> {health}
    </span>
  );
}

function addressOf(one: Json): string {
  const address = part(part(one.endpoint)?.address);
  const socket = part(address?.socket_address);
  if (socket !== undefined) return `${socket.address ?? ""}:${socket.port_value ?? socket.named_port ?? ""}`;
  return String(part(address?.pipe)?.path ?? one.endpoint_name ?? "");
}

function part(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function items(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(part).filter((one) => one !== undefined) : [];
}
