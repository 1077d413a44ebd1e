/** Measuring several systems one after the other, close together in time, and finding again what each of them measured. */

/** What was measured, by the name of the system. */
export type ByName<T> = ReadonlyMap<string, T>

export async function eachInTurn<S extends { readonly name: string }, T>(
  systems: readonly S[],
  measure: (system: S) => Promise<T>,
): Promise<ByName<T>> {
  const results = new Map<string, T>()
  for (const system of systems) results.set(system.name, await measure(system))
  return results
}

export function measuredOf<T>(results: ByName<T>, name: string): T {
  const result = results.get(name)
  if (result === undefined) throw new Error(`${name} was not measured.`)
  return result
}
