/** Resources in proto3 JSON, by type URL and name: the whole configuration that the server has to serve. */
export type DrivenContent = Readonly<Record<string, Readonly<Record<string, object>>>>;

/**
 * What a driver may be able to do besides: restart the server, serve resources of any type, give resources TTLs,
 * give them aliases.
 */
export const driverSkills = ["restart", "types", "ttl", "aliases"] as const;
export type DriverSkill = (typeof driverSkills)[number];

/** Changes what the server serves. */
export interface Driver {
  /** Resolves once the server serves exactly this. Throws Failed if the driver cannot. */
  set(content: DrivenContent): Promise<void>;
  /** What the driver's last answer said that it can do. */
  readonly skills: ReadonlySet<DriverSkill>;
  /** Resolves once the restarted server serves what it served. Throws Failed if the driver cannot. */
  restart(): Promise<void>;
  close(): void;
}

/** What is written to a driver. */
export type DriverOrder = { readonly set: DrivenContent } | { readonly restart: true };

/** How long a driver may take. */
export const driverMs = 20_000;
