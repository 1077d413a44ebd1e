/**
 * The files of the dashboard, as the build has written them to dist/ui. They contain no data and no secrets, so they are served
 * without credentials. Each file is read and compressed once, and stays in memory.
 */
import { readFile, readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { packageFile } from '../../runtime/index.ts'

export interface UiFile {
  readonly type: string
  readonly bytes: Uint8Array
  /** Absent for a file that is too small to gain from compression. */
  readonly gzipped: Uint8Array | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}
const COMPRESSED_FROM_BYTES = 1_024
const compress = promisify(gzip)

export class UiFiles {
  readonly #folder: URL
  #names: Promise<ReadonlySet<string>> | undefined
  readonly #files = new Map<string, Promise<UiFile>>()

  constructor(folder = packageFile('dist/ui/')) {
    this.#folder = folder
  }

  /** Returns a file by its path below the folder; undefined if the build has not written it. Only listed names reach the disk. */
  async find(name: string): Promise<UiFile | undefined> {
    this.#names ??= this.#list()
    if (!(await this.#names).has(name)) return undefined
    const found = this.#files.get(name) ?? this.#read(name)
    this.#files.set(name, found)
    return await found
  }

  /** A package that was built without the dashboard has none, and a later build may add it. */
  async #list(): Promise<ReadonlySet<string>> {
    try {
      const entries = await readdir(this.#folder, { recursive: true })
      return new Set(entries.map((entry) => entry.replaceAll('\\', '/')).filter((entry) => typeOf(entry) !== undefined))
    } catch {
      this.#names = undefined
      return new Set()
    }
  }

  async #read(name: string): Promise<UiFile> {
    try {
      const bytes = await readFile(new URL(name, this.#folder))
      const gzipped = bytes.byteLength < COMPRESSED_FROM_BYTES ? undefined : await compress(bytes)
      return { type: typeOf(name) ?? '', bytes, gzipped }
    } catch (error) {
      this.#files.delete(name)
      throw error
    }
  }
}

function typeOf(name: string): string | undefined {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)]
}
