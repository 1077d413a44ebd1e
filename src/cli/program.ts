/** Assembles the commands, runs the given one, and turns every failure into a message and an exit code. */
import { Command, CommanderError } from 'commander'
import { invalidInput } from '../client/index.ts'
import { packageVersion, systemRuntime } from '../runtime/index.ts'
import { approveCommand } from './commands/waits/approve.ts'
import { backupCommand } from './commands/backup.ts'
import { bulkCommand } from './commands/bulk.ts'
import { cancelCommand } from './commands/cancel.ts'
import { devCommand } from './commands/dev.ts'
import { doctorCommand } from './commands/doctor.ts'
import { failuresCommand } from './commands/failures.ts'
import { flowCommand } from './commands/flows/flow.ts'
import { framesCommand } from './commands/frames.ts'
import { codecKeysCommand } from './commands/codec-keys/codec-keys.ts'
import { codecSweepCommand } from './commands/codec-sweep.ts'
import { keysCommand } from './commands/keys/keys.ts'
import { lanesCommand } from './commands/lanes/lanes.ts'
import { budgetsCommand } from './commands/budgets/budgets.ts'
import { limitsCommand } from './commands/limits/limits.ts'
import { listCommand } from './commands/list.ts'
import { logsCommand } from './commands/logs.ts'
import { mcpCommand } from './commands/mcp.ts'
import { migrateCommand } from './commands/migrate.ts'
import { reissueCommand } from './commands/waits/reissue.ts'
import { continueCommand } from './commands/continue.ts'
import { replayCommand } from './commands/replay.ts'
import { resumeCommand } from './commands/waits/resume.ts'
import { runCommand } from './commands/run.ts'
import { serverCommand } from './commands/server.ts'
import { showCommand } from './commands/show.ts'
import { signalCommand } from './commands/waits/signal.ts'
import { stepsCommand } from './commands/steps.ts'
import { submitCommand } from './commands/submit.ts'
import { tailCommand } from './commands/tail.ts'
import { tokensCommand } from './commands/tokens/tokens.ts'
import { topCommand } from './commands/top.ts'
import { waitpointsCommand } from './commands/waits/waitpoints.ts'
import { completionCommand } from './commands/completion.ts'
import { configCommand } from './commands/config.ts'
import { auditCommand } from './commands/audit.ts'
import { consumersCommand } from './commands/consumers/consumers.ts'
import { eventsCommand } from './commands/events.ts'
import { webhooksCommand } from './commands/webhooks/webhooks.ts'
import { schedulesCommand } from './commands/schedules/schedules.ts'
import { workersCommand } from './commands/workers/workers.ts'
import { whyCommand } from './commands/why.ts'
import { exitCodes } from './process/exit-codes.ts'
import type { ExitCode } from './process/exit-codes.ts'
import { reportFailure } from './process/failure.ts'
import { addGlobalOptions, asksForJson } from './args/globals.ts'
import { environmentHelp, examples, exitCodeHelp } from './args/help.ts'
import { Output, endQuietlyOnClosedPipe } from './text/output.ts'
import { Shell } from './session/shell.ts'

export async function main(args: readonly string[]): Promise<void> {
  endQuietlyOnClosedPipe(process.stdout)
  endQuietlyOnClosedPipe(process.stderr)
  const shell = new Shell(systemRuntime())
  const isJson = asksForJson(args)
  try {
    await createProgram(shell, isJson).parseAsync(args, { from: 'user' })
    process.exitCode = shell.exitCode
  } catch (error) {
    process.exitCode = endOf(error, new Output(process.stdout, process.stderr, isJson))
  }
  if (shell.runsForeignCode) process.stdout.write('', () => process.exit())
}

function endOf(error: unknown, output: Output): ExitCode {
  if (!(error instanceof CommanderError)) return reportFailure(error, output)
  // Commander has printed the help or the version.
  if (error.exitCode === 0) return exitCodes.ok
  // Without a command, commander has printed the help as the error.
  if (error.code === 'commander.help' && !output.isJson) return exitCodes.invalidInput
  return reportFailure(usageError(error), output)
}

export function createProgram(shell: Shell, isJson: boolean): Command {
  const program = addGlobalOptions(new Command('flowfabric'))
    .description('Durable executions: submit, inspect and operate them.')
    .version(packageVersion(), '--version', 'print the version')
    .addHelpText('after', examples(['dev handlers.ts', `submit greet '{"name":"Ada"}' --wait`, 'why report:2026-01']))
    .addHelpText('after', environmentHelp())
    .addHelpText('after', exitCodeHelp())
  const commands = [
    devCommand(shell),
    serverCommand(shell),
    mcpCommand(shell),
    submitCommand(shell),
    runCommand(shell),
    listCommand(shell),
    showCommand(shell),
    tailCommand(shell),
    eventsCommand(shell),
    consumersCommand(shell),
    webhooksCommand(shell),
    cancelCommand(shell),
    replayCommand(shell),
    continueCommand(shell),
    bulkCommand(shell),
    failuresCommand(shell),
    signalCommand(shell),
    waitpointsCommand(shell),
    approveCommand(shell),
    resumeCommand(shell),
    reissueCommand(shell),
    stepsCommand(shell),
    framesCommand(shell),
    logsCommand(shell),
    flowCommand(shell),
    whyCommand(shell),
    lanesCommand(shell),
    limitsCommand(shell),
    budgetsCommand(shell),
    workersCommand(shell),
    schedulesCommand(shell),
    keysCommand(shell),
    codecKeysCommand(shell),
    codecSweepCommand(shell),
    tokensCommand(shell),
    auditCommand(shell),
    topCommand(shell),
    doctorCommand(shell),
    configCommand(shell),
    migrateCommand(shell),
    backupCommand(shell),
    completionCommand(shell),
  ]
  for (const command of commands) program.addCommand(command)
  throwErrors(program, isJson)
  return program
}

/** Makes commander throw its errors instead of printing and exiting, so that all failures are reported alike. */
function throwErrors(command: Command, isJson: boolean): void {
  command
    .exitOverride()
    .configureOutput({ outputError: () => undefined, ...(isJson ? { writeErr: () => undefined } : {}) })
    .configureHelp({ showGlobalOptions: true })
  for (const inner of command.commands) throwErrors(inner, isJson)
}

function usageError(error: CommanderError): Error {
  const text = error.code === 'commander.help' ? 'A command is missing.' : sentence(error.message)
  return invalidInput('arguments', `${text} See flowfabric --help, or flowfabric <command> --help.`)
}

function sentence(text: string): string {
  const plain = text
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .trim()
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}${plain.endsWith('.') ? '' : '.'}`
}
