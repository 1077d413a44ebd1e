/** Loads the handlers and flows that a module of the user exports, under any names, one by one or in arrays. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { invalidInput, isFlow, isHandler } from '../../client/index.ts'
import type { AnyFlow, Handler } from '../../client/index.ts'

const FIELD = 'handlers-file'
/** Lines of the module's own error that are shown: the message and the place. */
const STACK_LINES = 6

export interface LoadedModule {
  readonly handlers: readonly Handler[]
  /** The worker evaluates their conditions. */
  readonly flows: readonly AnyFlow[]
}

export async function loadHandlers(file: string): Promise<LoadedModule> {
  // A location may contain a password, so the error does not repeat it.
  if (isLocation(file)) {
    throw invalidInput(FIELD, 'The handlers file looks like the location of a store: pass that with --store.')
  }
  const location = path.resolve(file)
  if (!existsSync(location)) throw invalidInput(FIELD, `The handlers file ${file} does not exist.`)
  refuseTypes(file)
  const exported = Object.values(await load(location, file)).flatMap((value: unknown): unknown[] =>
    Array.isArray(value) ? value : [value],
  )
  const handlers = [...new Set(exported.filter(isHandler))]
  if (handlers.length === 0) {
    throw invalidInput(
      FIELD,
      `${file} exports no handler. Export what task(…).handle(…) returns, for example: export const greetHandler = greet.handle(async (input) => …).`,
    )
  }
  return { handlers, flows: [...new Set(exported.filter(isFlow))] }
}

function isLocation(text: string): boolean {
  return /^[a-z][a-z-]+:/.test(text) && !existsSync(path.resolve(text))
}

/** Refuses TypeScript where this Node does not strip types, because of its version or its options. */
function refuseTypes(file: string): void {
  if (!/\.[cm]?ts$/.test(file) || process.features.typescript !== false) return
  throw invalidInput(
    FIELD,
    `${file} is TypeScript, which Node ${process.versions.node} does not run. Use Node 22.18 or later, compile the file, or set NODE_OPTIONS=--experimental-strip-types.`,
  )
}

async function load(location: string, file: string): Promise<object> {
  try {
    return (await import(pathToFileURL(location).href)) as object
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    throw invalidInput(FIELD, `${file} cannot be loaded: ${text.split('\n').slice(0, STACK_LINES).join('\n')}`)
  }
}
