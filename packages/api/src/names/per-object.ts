/** A function of an object that computes its result once for each object, and keeps it as long as the object lives. */
export function perObject<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const known = new WeakMap<Of, Made>();
  return (of) => {
    let made = known.get(of);
    if (made === undefined && !known.has(of)) {
      made = make(of);
      known.set(of, made);
    }
    return made as Made;
  };
}
