/**
 * Runs the snippets of a page in their order, as one program on a store in memory with a virtual clock. A name that a snippet does not
 * declare comes from an earlier snippet of the page, from the page's list of what the reader has, or from the package. A snippet that
 * uses `ctx` is the body of a handler. Each handler that a snippet declares is run with an input from the list.
 */
import { setImmediate as turn } from 'node:timers/promises'
import vm from 'node:vm'
import ts from 'typescript'
import { z } from 'zod'
import * as flowfabric from '../../src/index.ts'
import { isHandler } from '../../src/client/index.ts'
import type { Handler } from '../../src/client/index.ts'
import * as testing from '../../src/testing/index.ts'
import type { TestFabric } from '../../src/testing/index.ts'
import type { Snippet } from './snippets.ts'

/** What a page leaves to its reader. */
export interface ReaderOf {
  /** Values by name. */
  readonly names?: (site: Site) => Readonly<Record<string, unknown>>
  /** The input of each handler that a snippet declares, by the name of the handler. */
  readonly inputs?: Readonly<Record<string, unknown>>
  /** Signals that every waiting execution gets once. */
  readonly signals?: Readonly<Record<string, unknown>>
  /** Runs before the snippet with this number, counted from 1. */
  readonly before?: Readonly<Record<number, (site: Site) => unknown>>
}

/** In place of the input of a handler that only runs as a part of something else, which another snippet submits. */
export const SERVED_ONLY = Symbol('served only')

/** Thrown by a value of the reader to end a snippet that would read on and on. */
export class EndOfSnippet extends Error {}

/** A task of the reader, or of a snippet. */
export type OwnTask = flowfabric.Task<unknown, unknown, unknown, unknown>

type Code = (scope: object) => Promise<unknown>

/** A snippet takes milliseconds, but all pages run at the same time. */
const LIMIT_MS = 100_000
/** Turns of the event loop in which a snippet continues by itself, before time passes and waits are answered. */
const TURN_COUNT = 40
const DAY_MS = 86_400_000
const START_AT = Date.UTC(2026, 3, 1)
const VOTERS = ['ada', 'bob', 'eve']

export class Site {
  readonly fabric: TestFabric
  /** The names of the package and of the page. */
  readonly scope: Record<string, unknown>
  readonly #reader: ReaderOf
  readonly #sent = new Set<string>()
  readonly #tests: Promise<void>[] = []

  private constructor(fabric: TestFabric, reader: ReaderOf) {
    this.fabric = fabric
    this.#reader = reader
    const createFabric = (_location: string, options?: flowfabric.FabricOptions) =>
      flowfabric.createFabric('memory:', { ...options, log: 'silent' })
    // Frequent timers would only slow down the passing of days.
    const work = fabric.work.bind(fabric)
    fabric.work = (handlers, options) => work(handlers, { ...options, sweep: '1d', livenessTtl: '30d', engine: false })
    const test = (_name: string, run: () => Promise<void>) => void this.#tests.push(run())
    this.scope = { ...flowfabric, ...testing, createFabric, fabric, test, z, console: { log: () => undefined } }
    Object.assign(this.scope, reader.names?.(this))
  }

  /** Runs all snippets. Throws the first error, with the place of its snippet. */
  static async run(snippets: readonly Snippet[], reader: ReaderOf): Promise<void> {
    const first = flowfabric.task('first').handle(() => undefined)
    await using fabric = await testing.testFabric([first], { indexedTags: ['plan'], startAt: START_AT })
    const site = new Site(fabric, reader)
    for (const [index, snippet] of snippets.entries()) {
      try {
        await reader.before?.[index + 1]?.(site)
        await site.#runSnippet(snippet, index + 1)
      } catch (cause) {
        const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
        throw new Error(`${snippet.place}: ${reason}`, { cause })
      }
    }
  }

  /** Starts a worker for handlers. */
  async serve(...handlers: readonly Handler[]): Promise<void> {
    await this.fabric.work(handlers, { concurrency: 100 })
  }

  async #runSnippet({ text }: Snippet, number: number): Promise<void> {
    const { code, declared, isBody } = compile(text)
    if (isBody) await this.#asHandler(code, number)
    else await this.drive(this.#quietly(code(this.scope)))
    await Promise.all(this.#tests.splice(0))
    for (const name of declared) {
      const value = this.scope[name]
      if (isHandler(value)) await this.#runHandler(name, value)
    }
  }

  async #asHandler(code: Code, number: number): Promise<void> {
    const body = flowfabric.task<undefined>(`snippet.${number}`, { retry: { attempts: 1 } })
    const run = body.handle(async (_, ctx) => {
      Object.assign(this.scope, { ctx, execution: this.fabric.execution(ctx.executionId) })
      await this.#quietly(code(this.scope))
    })
    await this.serve(run)
    await this.untilCompleted((await this.fabric.submit(body, undefined)).id)
  }

  async #quietly(running: Promise<unknown>): Promise<void> {
    try {
      await running
    } catch (error) {
      if (!(error instanceof EndOfSnippet)) throw error
    }
  }

  async #runHandler(name: string, handler: Handler): Promise<void> {
    const { inputs = {} } = this.#reader
    if (!Object.hasOwn(inputs, name)) throw new Error(`The list of the page has no input for ${name}.`)
    await this.serve(handler)
    if (inputs[name] === SERVED_ONLY) return
    const own = handler.task as OwnTask
    await this.untilCompleted((await this.fabric.submit(own, inputs[name])).id)
  }

  /** Lets time pass and answers waits until the promise settles. */
  async drive<T>(running: Promise<T>): Promise<T> {
    const state = { isPending: true }
    const settled = () => void (state.isPending = false)
    running.then(settled, settled)
    await this.#pass(() => !state.isPending)
    return await running
  }

  /** The same until an execution has completed, without a reader of its events, which would look each second of all days. */
  async untilCompleted(id: string): Promise<void> {
    await this.#pass(async () => (await this.fabric.describe(id)).outcome !== undefined)
    await this.fabric.execution(id).result()
  }

  async #pass(isOver: () => boolean | Promise<boolean>): Promise<void> {
    const { clock } = this.fabric
    const endsAt = performance.now() + LIMIT_MS
    while (performance.now() < endsAt) {
      for (let count = 0; count < TURN_COUNT; count++) await turn()
      await clock.advance(0)
      if (await isOver()) return
      await this.#answerWaits()
      const nextAt = clock.nextTimerAt()
      if (nextAt !== undefined) await clock.advance(Math.min(DAY_MS, Math.max(1, Math.ceil(nextAt - clock.now()))))
    }
    throw new Error('The snippet does not end.')
  }

  async #answerWaits(): Promise<void> {
    const { items } = await this.fabric.list({ state: ['suspended', 'active'] })
    for (const { id } of items) {
      const { items: open } = await this.fabric.waitpoints(id)
      for (const { key } of open) {
        for (const by of VOTERS) await this.#send(id, 'approve', undefined, { waitpoint: key, by })
      }
      for (const [name, value] of Object.entries(this.#reader.signals ?? {})) await this.#send(id, name, value, {})
    }
  }

  async #send(id: string, name: string, value: unknown, options: flowfabric.SignalSendOptions): Promise<void> {
    const key = [id, name, options.waitpoint, options.by].join(' ')
    if (this.#sent.has(key)) return
    this.#sent.add(key)
    try {
      await this.fabric.signal(id, name, value, options)
    } catch (error) {
      // A signal that comes too late is refused.
      if (!(error instanceof flowfabric.EngineError)) throw error
    }
  }
}

/** Compiles a snippet to a function of its names, which adds what the snippet declares to them. */
function compile(text: string): {
  readonly code: Code
  readonly declared: readonly string[]
  readonly isBody: boolean
} {
  const source = ts.createSourceFile('snippet.ts', text, ts.ScriptTarget.Latest, true)
  const imports = source.statements.filter((statement) => ts.isImportDeclaration(statement))
  const rest = imports.reduceRight((left, { pos, end }) => left.slice(0, pos) + left.slice(end), text)
  const plain = rest.replaceAll(/^export (?=const|async|function)/gm, '')
  const target = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext }
  const script = ts.transpileModule(plain, { compilerOptions: target }).outputText.replace(/^export \{\};$/m, '')
  // A name of the package keeps its meaning on the whole page.
  const declared = source.statements.flatMap(namesIn).filter((name) => !Object.hasOwn(flowfabric, name))
  const program = `with (scope) return (async () => {\n${script}\nObject.assign(scope, { ${declared.join(', ')} })\n})()`
  const isBody = usesContext(source)
  return { code: vm.compileFunction(program, ['scope']) as Code, declared, isBody }
}

/** The names that a statement declares for later snippets. What is disposed at the end of the snippet is not among them. */
function namesIn(statement: ts.Statement): string[] {
  if (ts.isFunctionDeclaration(statement)) return statement.name === undefined ? [] : [statement.name.text]
  if (!ts.isVariableStatement(statement)) return []
  const { declarations, flags } = statement.declarationList
  if ((flags & ts.NodeFlags.Using) !== 0) return []
  return declarations.flatMap(({ name }) => boundNames(name))
}

function boundNames(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []))
}

/** Whether the snippet itself, and not a function that gets it, uses `ctx`. */
function usesContext(node: ts.Node): boolean {
  if (ts.isIdentifier(node) && node.text === 'ctx') return true
  const isFunction = ts.isArrowFunction(node) || ts.isFunctionExpression(node)
  if (isFunction && node.parameters.some(({ name }) => ts.isIdentifier(name) && name.text === 'ctx')) return false
  return ts.forEachChild(node, usesContext) ?? false
}
