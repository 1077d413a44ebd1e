import { Command } from 'commander'
import { Writable } from 'node:stream'
import { checkPrincipal, invalidInput, parseDuration } from '../../client/index.ts'
import type { AnyTask } from '../../client/index.ts'
import { packageVersion } from '../../runtime/index.ts'
import { loadTasks } from '../args/handlers-file.ts'
import type { LoadedTasks } from '../args/handlers-file.ts'
import { examples } from '../args/help.ts'
import { loginName } from '../args/operator-identity.ts'
import { Interruption } from '../process/interruption.ts'
import type { Session, Shell } from '../session/shell.ts'

interface McpFlags {
  readonly work?: boolean
  readonly by?: string
  readonly wait: string
}

/** Below the limit that clients have for a call, which is a minute in most. */
const WAIT_DEFAULT = '45s'

const PACKAGE = '@modelcontextprotocol/server'

const ENDING = `
The protocol is on standard input and output; what handlers print goes to standard error. The command ends when its input ends.
It needs the package ${PACKAGE}.`

export function mcpCommand(shell: Shell): Command {
  return new Command('mcp')
    .description('serve tasks as tools of the Model Context Protocol, over standard input and output')
    .argument('<tasks-file>', 'a module that exports tasks or handlers')
    .option('--work', 'run a worker and an engine in this process, too; the file must export handlers')
    .option('--by <name>', 'in whose name approvals are answered (default: your login name)')
    .option('--wait <duration>', 'how long a call of a client without tasks waits for its result', WAIT_DEFAULT)
    .addHelpText('after', ENDING)
    .addHelpText('after', examples(['mcp tasks.ts', 'mcp handlers.ts --work --by ada']))
    .action(async (file: string, flags: McpFlags, command: Command) => {
      const by = checkPrincipal(flags.by ?? loginName(), '--by')
      const waitMs = parseDuration(flags.wait, '--wait')
      const toClient = takeStandardOutput()
      const sdk = await loadSdk()
      shell.runsForeignCode = true
      const loaded = await load(file)
      const { taskTools } = await import('../../mcp/task-tools.ts')
      const tools = taskTools(loaded.tasks)
      await shell.withFabric(command, { create: true, makeKeys: flags.work === true }, async (session) => {
        const worker = flags.work === true ? await session.fabric.work(handlersOf(file, loaded)) : undefined
        announce(session, loaded.tasks)
        const { mcpServer } = await import('../../mcp/mcp-server.ts')
        const options = { tools, fabric: session.fabric, runtime: shell.runtime, by, waitMs }
        await serveUntilEnd(shell, sdk, toClient, () => mcpServer(sdk.server, options))
        // The client is gone and may kill this process: hand executions over instead of finishing them.
        await worker?.close({ drain: 0 })
      })
    })
}

type SdkModules = Awaited<ReturnType<typeof loadSdk>>

async function loadSdk() {
  try {
    const [server, stdio] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ])
    return { server, stdio }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw invalidInput('mcp', `This command needs the package ${PACKAGE}. Install it: npm install ${PACKAGE}`)
  }
}

async function load(file: string): Promise<LoadedTasks> {
  return await loadTasks(file, async (location) => {
    const { loadProject } = await import('../modules/typescript.ts')
    return loadProject(location, () => undefined)
  })
}

function handlersOf(file: string, { handlers }: LoadedTasks): LoadedTasks['handlers'] {
  if (handlers.length > 0) return handlers
  throw invalidInput('--work', `${file} exports tasks, but no handler for a worker to run.`)
}

/** Standard output belongs to the protocol: what other code prints would break it, so that goes to standard error. */
function takeStandardOutput(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, encoding, done) => {
      write(chunk, encoding, (error) => done(error))
    },
  })
}

function announce({ fabric, output }: Session, tasks: readonly AnyTask[]): void {
  const names = tasks.map(({ name }) => name).join(', ')
  output.remark(
    `flowfabric ${packageVersion()} serves the tasks ${names} of the namespace ${fabric.namespace} over MCP.`,
  )
}

async function serveUntilEnd(
  shell: Shell,
  { stdio }: SdkModules,
  toClient: Writable,
  connect: Parameters<SdkModules['stdio']['serveStdio']>[0],
): Promise<void> {
  using interruption = new Interruption()
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve)
    interruption.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const transport = new stdio.StdioServerTransport(process.stdin, toClient)
  const serving = stdio.serveStdio(connect, { transport })
  await ended
  await serving.close()
  if (interruption.exitCode !== undefined) shell.exitCode = interruption.exitCode
}
