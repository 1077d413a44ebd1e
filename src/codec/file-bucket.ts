/** A bucket that is a folder, such as one on a file system that all machines share. */
import { mkdir, open, opendir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { secretBytes } from '../runtime/index.ts'
import type { Bucket, BucketObject } from './bucket.ts'

/** Files under this name are being written. */
const PARTIAL = '.partial'

export function fileBucket(folder: string): Bucket {
  const root = path.resolve(folder)
  return {
    put: async (name, bytes) => {
      const file = path.join(root, name)
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      const partial = path.join(path.dirname(file), secretBytes(16).toString('hex') + PARTIAL)
      try {
        await writeDurably(partial, bytes)
        await rename(partial, file)
        await syncFolder(path.dirname(file))
      } catch (error) {
        await rm(partial, { force: true })
        throw error
      }
    },
    get: async (name) => {
      try {
        return await readFile(path.join(root, name))
      } catch (error) {
        if ((error as { code?: string }).code === 'ENOENT') {
          // A folder that is not there at all is not mounted: then nothing is known about its files.
          await stat(root)
          return undefined
        }
        throw error
      }
    },
    remove: async (name) => {
      const file = path.join(root, name)
      await rm(file, { force: true })
      await removeEmpty(path.dirname(file), root)
    },
    list: () => objectsIn(root),
  }
}

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes folders that have become empty. A writer that needs one of them at this moment is called again. */
async function removeEmpty(folder: string, root: string): Promise<void> {
  if (folder === root || !folder.startsWith(root)) return
  try {
    await rmdir(folder)
  } catch {
    return
  }
  await removeEmpty(path.dirname(folder), root)
}

async function* objectsIn(root: string): AsyncGenerator<BucketObject, void, undefined> {
  for await (const entry of await opendir(root, { recursive: true })) {
    if (!entry.isFile() || entry.name.endsWith(PARTIAL)) continue
    const file = path.join(entry.parentPath, entry.name)
    const name = path.relative(root, file).split(path.sep).join('/')
    const at = await writtenAt(file)
    if (at !== undefined) yield { name, at }
  }
}

/** Returns undefined for a file that was removed meanwhile. */
async function writtenAt(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mtimeMs
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}
