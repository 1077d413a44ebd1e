/** Loads the handlers and flows that a module of the user exports, under any names, one by one or in arrays. */
import { existsSync } from 'node:fs'
import module from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { invalidInput, isFlow, isHandler, isTask } from '../../client/index.ts'
import type { AnyFlow, AnyTask, Handler } from '../../client/index.ts'

const FIELD = 'handlers-file'

export interface LoadedModule {
  readonly handlers: readonly Handler[]
  /** The worker evaluates their conditions. */
  readonly flows: readonly AnyFlow[]
}

/** Prepares the process to import a module. Called once it is known to exist. */
export type Prepare = (location: string) => Promise<SyntaxErrorFinder>
/** Finds the reason and the place of a syntax error in the files that were loaded. */
type SyntaxErrorFinder = () => string | undefined

export interface LoadedTasks {
  /** Each task once, also if the module exports its handler, too. */
  readonly tasks: readonly AnyTask[]
  readonly handlers: readonly Handler[]
}

export async function loadHandlers(file: string, prepare?: Prepare): Promise<LoadedModule> {
  const exported = await exportsOf(file, prepare)
  const handlers = [...new Set(exported.filter(isHandler))]
  if (handlers.length === 0) {
    throw invalidInput(
      FIELD,
      `${file} exports no handler. Export what task(…).handle(…) returns, for example: export const greetHandler = greet.handle(async (input) => …).`,
    )
  }
  return { handlers, flows: [...new Set(exported.filter(isFlow))] }
}

/** Loads tasks, which a module may export without their handlers. */
export async function loadTasks(file: string, prepare?: Prepare): Promise<LoadedTasks> {
  const exported = await exportsOf(file, prepare)
  const handlers = [...new Set(exported.filter(isHandler))]
  const tasks = [...new Set([...handlers.map(({ task }) => task), ...exported.filter(isTask)])]
  if (tasks.length > 0) return { tasks, handlers }
  throw invalidInput(FIELD, `${file} exports no task. Export what task(…) or task(…).handle(…) returns.`)
}

async function exportsOf(file: string, prepare: Prepare | undefined): Promise<unknown[]> {
  // A location may contain a password, so the error does not repeat it.
  if (isLocation(file)) {
    throw invalidInput(FIELD, 'The handlers file looks like the location of a store: pass that with --store.')
  }
  const location = path.resolve(file)
  if (!existsSync(location)) throw invalidInput(FIELD, `The handlers file ${file} does not exist.`)
  refuseTypes(file)
  return Object.values(await load(location, file, prepare)).flatMap((value: unknown): unknown[] =>
    Array.isArray(value) ? value : [value],
  )
}

function isLocation(text: string): boolean {
  return /^[a-z][a-z-]+:/.test(text) && !existsSync(path.resolve(text))
}

/** Refuses TypeScript where this Node has no hooks for its loader and does not strip types either. */
function refuseTypes(file: string): void {
  const canLoad = typeof module.registerHooks === 'function' || process.features.typescript !== false
  if (canLoad || !/\.[cm]?ts$/.test(file)) return
  throw invalidInput(
    FIELD,
    `${file} is TypeScript, which needs Node 22.15 or later, but this is Node ${process.versions.node}. Update Node or compile the file.`,
  )
}

async function load(location: string, file: string, prepare: Prepare | undefined): Promise<object> {
  let findSyntaxError: SyntaxErrorFinder | undefined
  try {
    findSyntaxError = await prepare?.(location)
    return (await import(pathToFileURL(location).href)) as object
  } catch (error) {
    // The error of Node does not have the place.
    const found = error instanceof SyntaxError ? findSyntaxError?.() : undefined
    const reason = found === undefined ? reasonOf(error) : `SyntaxError: ${found}`
    throw invalidInput(FIELD, `${file} cannot be loaded: ${reason}`)
  }
}

/** The message of an error and the place where it was thrown, in one line. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const place = error.stack?.split('\n').find((line) => /^ +at .*file:/.test(line))
  return place === undefined ? `${error.name}: ${error.message}` : `${error.name}: ${error.message} (${place.trim()})`
}
