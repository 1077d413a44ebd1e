/** Clients of the official SDK, connected to the built command over its standard input and output. */
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client'
import type { RawClientDispatch, V2RequestFraming, WithTasksOptions } from '@modelcontextprotocol/ext-tasks/client'
import { Client, LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/client'
import type { ClientCapabilities, ClientOptions, JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { onTestFinished } from 'vitest'
import { COMMAND } from './workplace.ts'
import type { Workplace } from './workplace.ts'

const INFO = { name: 'test', version: '1.0.0' }
const TASKS: ClientCapabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } }

/** Starts `flowfabric mcp` in the place. */
function transportTo(place: Workplace, args: readonly string[]): StdioClientTransport {
  const command = [COMMAND, 'mcp', ...args]
  return new StdioClientTransport({
    command: process.execPath,
    args: command,
    cwd: place.folder,
    env: { ...(process.env as Record<string, string>), NO_COLOR: '1' },
    stderr: 'pipe',
  })
}

export interface Connection {
  readonly client: Client
  readonly pid: number
}

/** Connects a client as it is, without tasks. `legacy` speaks the protocol before the present revision. */
export async function connectClient(
  place: Workplace,
  args: readonly string[],
  era: 'legacy' | 'auto',
  options: ClientOptions = {},
): Promise<Connection> {
  const client = new Client(INFO, { ...options, versionNegotiation: { mode: era } })
  const transport = transportTo(place, args)
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, pid: transport.pid ?? 0 }
}

export interface TaskConnection extends Connection {
  readonly session: ReturnType<typeof createTaskSessionFromClient>
  /** Sends a request as it is, and returns its result or its error. */
  readonly send: RawClientDispatch
}

/** Connects a client with the Tasks extension. */
export async function connectWithTasks(
  place: Workplace,
  args: readonly string[],
  onInputRequest?: WithTasksOptions['onInputRequest'],
): Promise<TaskConnection> {
  const stdio = transportTo(place, args)
  const transport = new SharedTransport(stdio)
  const client = new Client(INFO, { capabilities: TASKS, versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  const session = createTaskSessionFromClient(client, {
    endpointId: place.folder,
    rawDispatch: transport.dispatch,
    v2RequestFraming: {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      clientInfo: INFO,
      clientCapabilities: TASKS as unknown as V2RequestFraming['clientCapabilities'],
    },
    ...(onInputRequest === undefined ? {} : { onInputRequest }),
  })
  onTestFinished(async () => {
    await session.close().catch(() => undefined)
    await client.close()
  })
  return { client, session, send: transport.dispatch, pid: stdio.pid ?? 0 }
}

/** Lets requests of the Tasks extension, which the client of the SDK does not send, share its connection. */
class SharedTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  readonly #inner: Transport
  readonly #answers = new Map<string, (message: JSONRPCMessage) => void>()

  constructor(inner: Transport) {
    this.#inner = inner
    inner.onclose = () => this.onclose?.()
    inner.onerror = (error) => this.onerror?.(error)
    inner.onmessage = (message, extra) => {
      const answer = 'id' in message ? this.#answers.get(String(message.id)) : undefined
      if (answer === undefined) this.onmessage?.(message, extra)
      else answer(message)
    }
  }

  readonly dispatch: RawClientDispatch = async (request) => {
    const id = `tasks-${this.#answers.size}`
    const answered = new Promise<JSONRPCMessage>((resolve) => this.#answers.set(id, resolve))
    await this.#inner.send({ ...(request as object), jsonrpc: '2.0', id } as JSONRPCMessage)
    const message = await answered
    return ('error' in message
      ? { kind: 'error', error: message.error }
      : { kind: 'result', result: (message as { result?: unknown }).result }) as unknown as Awaited<
      ReturnType<RawClientDispatch>
    >
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
