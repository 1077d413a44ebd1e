/** The package as npm publishes it: packed into a file, and unpacked into the node_modules of a folder. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { root } from './workplace.ts'

const run = promisify(execFile)

export interface PackedPackage {
  readonly tarball: string
  readonly bytes: number
  readonly unpackedBytes: number
  readonly files: readonly string[]
}

interface PackReport {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

/** Packs what the build has left in dist. */
export async function packInto(folder: string): Promise<PackedPackage> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 16_777_216 })
  const [report] = JSON.parse(stdout) as [PackReport]
  return {
    tarball: path.join(folder, report.filename),
    bytes: report.size,
    unpackedBytes: report.unpackedSize,
    files: report.files.map((file) => file.path),
  }
}

/**
 * Does what `npm install` does, without a registry: unpacks the package, and links its dependencies from this repository. Others
 * are not found, so a module that imports one fails.
 */
export async function installInto(
  folder: string,
  tarball: string,
  isWanted: (dependency: string) => boolean = () => true,
): Promise<void> {
  const target = path.join(folder, 'node_modules/flowfabric')
  await mkdir(target, { recursive: true })
  await run('tar', ['--extract', '--file', tarball, '--strip-components', '1', '--directory', target])
  const { dependencies, bin } = JSON.parse(await readFile(path.join(target, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
    readonly bin: Readonly<Record<string, string>>
  }
  for (const name of Object.keys(dependencies).filter(isWanted)) {
    const link = path.join(folder, 'node_modules', name)
    await mkdir(path.dirname(link), { recursive: true })
    await symlink(path.join(root, 'node_modules', name), link, 'dir')
  }
  await mkdir(path.join(folder, 'node_modules/.bin'), { recursive: true })
  for (const [name, file] of Object.entries(bin)) {
    await chmod(path.join(target, file), 0o755)
    await symlink(path.join('../flowfabric', file), path.join(folder, 'node_modules/.bin', name))
  }
}
