import { useMemo } from 'react'

/** Returns what was made for these inputs, until one of them changes. */
export function useOf<Made>(inputs: readonly unknown[], make: () => Made): Made {
  // The inputs are all that `make` uses, which each hook keeps to.
  return useMemo(make, inputs)
}
