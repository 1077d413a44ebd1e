/** Finds variables of the environment that look like misspelt settings. */
import { nearestOf } from '../../options/nearest.ts'
import { variables } from './settings.ts'

const PREFIX = 'FLOWFABRIC_'
const known = new Set(variables)
const knownEndings = variables.map((name) => name.slice(PREFIX.length))

/** Other programs may have variables with this prefix, so only those that resemble a setting are reported. */
export function misspeltVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name))
    .sort()
    .flatMap((name) => {
      const nearest = nearestOf(name.slice(PREFIX.length), knownEndings)
      return nearest === undefined ? [] : [`${name} is not a setting and is ignored. Did you mean ${PREFIX}${nearest}?`]
    })
}
