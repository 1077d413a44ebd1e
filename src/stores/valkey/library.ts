/** The text of the function library, and the names that carry its hash: programs of different versions share a server. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { EngineError } from '../engine-error.ts'

export interface FunctionLibrary {
  readonly name: string
  readonly text: string
  readonly functions: FunctionNames
}

export interface FunctionNames {
  readonly ordinary: string
  /** Runs although the server's memory is full: for operations that finish work or free memory. */
  readonly whenFull: string
  /** Writes nothing, and says so to the server. */
  readonly read: string
  readonly readEvents: string
  readonly trimEvents: string
  /** Says which commands the caller's user may not run. */
  readonly permissions: string
}

/** Every library of ours begins like this. */
export const LIBRARY_PREFIX = 'flowfabric_'

const HASH_LENGTH = 16
const NAME_MARK = 'FUNCTION_NAME'

/** Beside the built modules, or where the build puts it when the sources are run as they are. */
const places = ['../../lua/library.lua', '../../../dist/lua/library.lua']

let loaded: Promise<FunctionLibrary> | undefined

export function functionLibrary(): Promise<FunctionLibrary> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<FunctionLibrary> {
  const place = places.map((relative) => new URL(relative, import.meta.url)).find((url) => existsSync(url))
  if (place === undefined) {
    throw new EngineError('invalid_configuration', {
      message: 'The function library for Valkey is missing. In a checkout, make it with: npm run build',
    })
  }
  return libraryOf(await readFile(place, 'utf8'))
}

export function libraryOf(body: string): FunctionLibrary {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, HASH_LENGTH)
  const name = `${LIBRARY_PREFIX}${hash}`
  const text = `#!lua name=${name}\n${body.replaceAll(NAME_MARK, name)}`
  const functions: FunctionNames = {
    ordinary: name,
    whenFull: `${name}_when_full`,
    read: `${name}_read`,
    readEvents: `${name}_events`,
    trimEvents: `${name}_trim`,
    permissions: `${name}_permissions`,
  }
  return { name, text, functions }
}
