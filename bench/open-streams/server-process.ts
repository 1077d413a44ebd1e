/** The program of the process whose open streams are measured: a server, and nothing else. */
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { startServer } from '../../src/server/index.ts'
import { serveParent } from '../processes/duties.ts'

export type ServerDuties = {
  /** Returns the address of the server. */
  readonly open: (location: string) => Promise<string>
  /** The memory of the process in bytes. */
  readonly memory: (input: null) => Promise<number>
  /** Submits an execution, whose event goes to every stream. */
  readonly submit: (input: null) => Promise<void>
}

const noop = task('noop')
let submit: () => Promise<unknown> = () => Promise.reject(new Error('The server is not open.'))

const duties: ServerDuties = {
  open: async (location) => {
    const fabric = await createFabric(location)
    const server = await startServer(fabric, { port: 0 })
    submit = () => fabric.submit(noop)
    return server.url
  },
  memory: () => Promise.resolve(process.memoryUsage().rss),
  submit: async () => {
    await submit()
  },
}

serveParent(duties)
