import { z } from "zod";
import { parseDuration } from "./duration.js";

const aDuration = 'expected a duration with its unit, such as "100ms", "30s" or "2m"';

/** A duration in settings, in milliseconds. */
export const duration = z.string({ error: aDuration }).transform((text, context) => {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({ code: "custom", message: aDuration });
  return z.NEVER;
});
