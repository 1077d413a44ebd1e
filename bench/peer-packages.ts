/** The packages of other engines, which `bench/package.json` lists. `npm ci` at the root does not install them. */
import own from './package.json' with { type: 'json' }

/** The packages that are not installed. */
export function missingPeerPackages(): string[] {
  return Object.keys(own.dependencies).filter((name) => !isInstalled(name))
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
