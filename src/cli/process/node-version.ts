/** The first version whose `node:sqlite` needs no flag. */
const NODE_MINIMUM = '22.13.0'

/** The error message for a Node version that is too old; undefined if the version is supported. */
export function nodeRefusal(version: string): string | undefined {
  if (compareVersions(version, NODE_MINIMUM) >= 0) return undefined
  return `flowfabric needs Node ${NODE_MINIMUM} or later, but this is Node ${version}.\nInstall a newer version and run the command again.`
}

function compareVersions(a: string, b: string): number {
  const left = a.split('.').map((part) => parseInt(part, 10))
  const right = b.split('.').map((part) => parseInt(part, 10))
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
