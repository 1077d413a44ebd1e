import { Command } from 'commander'
import { packageVersion } from '../../runtime/index.ts'
import { dropUndefined } from '../args/drop-undefined.ts'
import { collect } from '../args/flags.ts'
import { examples } from '../args/help.ts'
import { Interruption } from '../process/interruption.ts'
import type { Session, Shell } from '../session/shell.ts'
import { printable } from '../text/printable.ts'
import { TOKENS_FILE_VARIABLE } from '../session/tokens-file.ts'

interface ServerFlags {
  readonly host?: string
  readonly port?: string
  readonly tokens?: string
  readonly open?: boolean
  readonly cors?: string[]
  readonly redact?: boolean
  readonly audit?: string
  readonly engine: boolean
  readonly webhooks: boolean
}

const ENDING = `
Ctrl-c or SIGTERM ends waits and streams, completes requests that have begun, and exits with 0.`

export function serverCommand(shell: Shell): Command {
  return new Command('server')
    .description('serve the HTTP API and the dashboard, and run an engine; creates the store if it does not exist')
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1)')
    .option('--port <number>', 'the port to listen on; 0 takes a free one (default: 9090)')
    .option('--tokens <file>', `the file of tokens that requests need (default: ${TOKENS_FILE_VARIABLE}, else none)`)
    .option('--open', 'accept requests without credentials on a public address too')
    .option('--cors <origin>', 'an origin whose pages may call the API; can be repeated', collect)
    .option('--redact', 'withhold inputs, results and other values from viewers')
    .option('--audit <file>', 'append each action of an operator to a file, as a line of JSON')
    .option('--no-engine', 'run no engine; timers then need one elsewhere')
    .option('--no-webhooks', 'deliver no webhooks')
    .addHelpText('after', ENDING)
    .addHelpText('after', examples(['server', 'server --host 0.0.0.0 --tokens ./flowfabric.tokens --port 8080']))
    .action(async (flags: ServerFlags, command: Command) => {
      const configuration = shell.configuration(command, {
        'server.host': flags.host,
        'server.port': flags.port,
        'server.tokensFile': flags.tokens,
        'server.open': flags.open,
        'server.cors': flags.cors,
        'server.redact': flags.redact,
        'server.auditFile': flags.audit,
        // Commander sets true if the flag is absent.
        'server.engine': flags.engine ? undefined : false,
        'server.webhooks': flags.webhooks ? undefined : false,
      })
      const options = dropUndefined({
        host: configuration.value('server.host'),
        port: configuration.value('server.port'),
        tokensFile: configuration.value('server.tokensFile'),
        isOpen: configuration.value('server.open'),
        cors: configuration.value('server.cors'),
        redact: configuration.value('server.redact'),
        auditFile: configuration.value('server.auditFile'),
      })
      await shell.withFabric(command, { create: true, needsStore: 'server opens a store' }, async (session) => {
        using interruption = new Interruption()
        const { fabric } = session
        // Loaded lazily: the schemas of the API are large.
        const { startServer } = await import('../../server/node/start-server.ts')
        const webhooks = configuration.value('server.webhooks') !== false
        const engine = configuration.value('server.engine') === false ? undefined : fabric.engine({ webhooks })
        await using server = await startServer(fabric, { ...options, ...dropUndefined({ engine }) })
        await announce(session, server.url, options.tokensFile)
        await ended(interruption.signal)
        session.output.remark('Completing the requests that have begun.')
        interruption.hurry.addEventListener('abort', () => server.drop(), { once: true })
        await server.close()
        await session.output.record({ kind: 'stopped' })
      })
    })
}

/** Where the pages of a server are. */
export function pagesText(url: string): string {
  return `The dashboard is on ${url}/ui. The HTTP API is described at ${url}/v1/docs.`
}

async function announce({ fabric, output }: Session, url: string, tokensFile: string | undefined): Promise<void> {
  const { kind, location, warnings } = await fabric.report()
  await output.record({
    kind: 'started',
    url,
    store: { kind, location, warnings },
    isGuarded: tokensFile !== undefined,
  })
  output.remark(`flowfabric ${packageVersion()} on ${kind}, ${printable(location)}`)
  for (const warning of warnings) output.remark(warning)
  output.remark(
    tokensFile === undefined ? 'Requests need no credentials.' : `Requests need a token of ${printable(tokensFile)}.`,
  )
  output.remark(pagesText(url))
  output.remark(`Listening on ${url}. Press ctrl-c to stop.`)
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
