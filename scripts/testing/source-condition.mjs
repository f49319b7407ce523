/** Like `--conditions=@xdskit/source`: packages import each other's TypeScript. */
export const resolve = (specifier, context, next) =>
  next(specifier, { ...context, conditions: [...context.conditions, "@xdskit/source"] });
