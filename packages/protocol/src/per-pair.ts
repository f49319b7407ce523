/** A function of two objects that computes its result once for each pair, when it is first called with it, and keeps it as long as both live. */
export function perPair<One extends object, Other extends object, Made extends object>(
  make: (one: One, other: Other) => Made,
): (one: One, other: Other) => Made {
  const known = new WeakMap<One, WeakMap<Other, Made>>();
  return (one, other) => {
    let ofOne = known.get(one);
    if (ofOne === undefined) {
      ofOne = new WeakMap();
      known.set(one, ofOne);
    }
    let made = ofOne.get(other);
    if (made === undefined) {
      made = make(one, other);
      ofOne.set(other, made);
    }
    return made;
  };
}
