import { readFileSync } from 'node:fs'

/** Returns the location of a file of this package. The sources and the built chunks are both two folders below its root. */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url)
}

/** The version of this package. */
export function packageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
