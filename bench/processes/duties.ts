/** What a process can be asked to do: functions by name, whose inputs and results travel between processes as JSON. */
export type Duties = Readonly<Record<string, (input: never) => Promise<unknown>>>

export type AskedFor<D extends Duties, N extends keyof D> = Parameters<D[N]>[0]
export type Asked<D extends Duties, N extends keyof D> = Awaited<ReturnType<D[N]>>

export interface Request {
  readonly id: number
  readonly name: string
  readonly input: unknown
}

export type Reply =
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }

/** Called by the program of a child process: does what the main process asks for, until that ends or disconnects. */
export function serveParent(duties: Duties): void {
  process.once('disconnect', () => process.exit())
  process.on('message', (request: Request) => void answer(duties, request))
}

async function answer(duties: Duties, { id, name, input }: Request): Promise<void> {
  let reply: Reply
  try {
    const duty = duties[name]
    if (duty === undefined) throw new Error(`This process does not do '${name}'.`)
    reply = { kind: 'done', id, value: await duty(input as never) }
  } catch (error) {
    reply = { kind: 'failed', id, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  // A main process that has disconnected does not wait for the answer.
  if (process.connected) process.send?.(reply)
}
