/** Strictest first. */
export const validateLevels = ["full", "types", "off"] as const;

/**
 * The level of a client's checks of resources.
 * - `full`: valid protobuf of its type that keeps the rules in its protos.
 * - `types`: valid protobuf of its type, and so is the content of its `Any`s, where their types are known.
 * - `off`: it has a name. Its content is not read; reading `message` later throws an error if the content is not valid
 * protobuf of its type.
 */
export type ValidateLevel = (typeof validateLevels)[number];

/** The level of an option. */
export function levelOf(validate: ValidateLevel | boolean = "full"): ValidateLevel {
  if (typeof validate === "string") return validate;
  return validate ? "full" : "types";
}
