/** From the strictest. */
export const validateLevels = ["full", "types", "off"] as const;

/**
 * How far a client judges what it receives.
 * - `full`: it is protobuf of its type, and keeps the rules in its protos.
 * - `types`: it is protobuf of its type, and so is what is in its `Any`s, as far as their types are known.
 * - `off`: it has a name. Nothing else of it is read; a `message` is read when somebody asks for it, and throws an error then if it is no protobuf of its type.
 */
export type ValidateLevel = (typeof validateLevels)[number];

/** The level that an option says. */
export function levelOf(validate: ValidateLevel | boolean = "full"): ValidateLevel {
  if (typeof validate === "string") return validate;
  return validate ? "full" : "types";
}
