/** The node that a bootstrap is for. */
export interface BootstrapNode {
  readonly nodeId: string;
  readonly nodeCluster: string;
  /** `REGION/ZONE/SUBZONE`, or its first parts. */
  readonly locality?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** As the field `node` of a bootstrap. */
export function bootstrapNode({ nodeId: id, nodeCluster: cluster, locality, metadata }: BootstrapNode) {
  const [region = "", zone = "", ...rest] = (locality ?? "").split("/");
  const parts = Object.entries({ region, zone, sub_zone: rest.join("/") }).filter(([, part]) => part !== "");
  return {
    id,
    cluster,
    ...(parts.length === 0 ? {} : { locality: Object.fromEntries(parts) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
