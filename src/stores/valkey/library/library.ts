/** The text of the function library, and the names that carry its hash: programs of different versions share a server. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { programLevels } from '../../level/store-level.ts'
import type { FunctionNames } from '../wire/function-names.ts'
import { LEVEL_STEP } from '../layout/keys.ts'

export interface FunctionLibrary {
  readonly name: string
  readonly text: string
  readonly functions: FunctionNames
}

/** Every library of ours begins like this. */
export const LIBRARY_PREFIX = 'flowfabric_'

const HASH_LENGTH = 16
const NAME_MARK = 'FUNCTION_NAME'

let loaded: Promise<string> | undefined

/** The library of a program that can run levels up to `levelMax`: its commits refuse a store of a higher level. */
export async function functionLibrary(levelMax = programLevels.max): Promise<FunctionLibrary> {
  loaded ??= readFile(new URL('./library.lua', import.meta.url), 'utf8')
  const limits = { LEVEL_STEP, LEVEL_END: levelMax * LEVEL_STEP }
  return libraryOf(
    (await loaded).replaceAll(/LEVEL_(?:STEP|END)/g, (name) => String(limits[name as keyof typeof limits])),
  )
}

export function libraryOf(body: string): FunctionLibrary {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, HASH_LENGTH)
  const name = `${LIBRARY_PREFIX}${hash}`
  const text = `#!lua name=${name}\n${body.replaceAll(NAME_MARK, name)}`
  const functions = {
    load: `${name}_load`,
    commit: `${name}_commit`,
    commitWhenFull: `${name}_commit_when_full`,
    readLog: `${name}_read_log`,
    trimLog: `${name}_trim_log`,
    permissions: `${name}_permissions`,
  }
  return { name, text, functions }
}
