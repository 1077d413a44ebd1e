/** Puts the commands together, runs the one that is asked for, and turns every failure into a sentence and an exit code. */
import { Command, CommanderError } from 'commander'
import { invalidInput } from '../client/index.ts'
import { packageVersion, systemRuntime } from '../runtime/index.ts'
import { approveCommand } from './commands/waits/approve.ts'
import { cancelCommand } from './commands/cancel.ts'
import { devCommand } from './commands/dev.ts'
import { doctorCommand } from './commands/doctor.ts'
import { flowCommand } from './commands/flows/flow.ts'
import { keysCommand } from './commands/keys/keys.ts'
import { lanesCommand } from './commands/lanes.ts'
import { listCommand } from './commands/list.ts'
import { migrateCommand } from './commands/migrate.ts'
import { reissueCommand } from './commands/waits/reissue.ts'
import { replayCommand } from './commands/replay.ts'
import { resumeCommand } from './commands/waits/resume.ts'
import { showCommand } from './commands/show.ts'
import { signalCommand } from './commands/waits/signal.ts'
import { stepsCommand } from './commands/steps.ts'
import { submitCommand } from './commands/submit.ts'
import { tailCommand } from './commands/tail.ts'
import { waitpointsCommand } from './commands/waits/waitpoints.ts'
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
  // Help or the version was asked for, and has been printed.
  if (error.exitCode === 0) return exitCodes.ok
  // Without a command the help is the error, and has been printed.
  if (error.code === 'commander.help' && !output.isJson) return exitCodes.invalidInput
  return reportFailure(usageError(error), output)
}

export function createProgram(shell: Shell, isJson: boolean): Command {
  const program = addGlobalOptions(new Command('flowfabric'))
    .description('Durable executions: hand work over, watch it, look after it.')
    .version(packageVersion(), '--version', 'print the version')
    .addHelpText('after', examples(['dev handlers.ts', `submit greet '{"name":"Ada"}' --wait`, 'why report:2026-01']))
    .addHelpText('after', environmentHelp())
    .addHelpText('after', exitCodeHelp())
  const commands = [
    devCommand(shell),
    submitCommand(shell),
    listCommand(shell),
    showCommand(shell),
    tailCommand(shell),
    cancelCommand(shell),
    replayCommand(shell),
    signalCommand(shell),
    waitpointsCommand(shell),
    approveCommand(shell),
    resumeCommand(shell),
    reissueCommand(shell),
    stepsCommand(shell),
    flowCommand(shell),
    whyCommand(shell),
    lanesCommand(shell),
    keysCommand(shell),
    doctorCommand(shell),
    migrateCommand(shell),
  ]
  for (const command of commands) program.addCommand(command)
  quieten(program, isJson)
  return program
}

/** Commander would print and exit by itself; here its errors, and those of the commands inside, take the way of all others. */
function quieten(command: Command, isJson: boolean): void {
  command
    .exitOverride()
    .configureOutput({ outputError: () => undefined, ...(isJson ? { writeErr: () => undefined } : {}) })
    .configureHelp({ showGlobalOptions: true })
  for (const inner of command.commands) quieten(inner, isJson)
}

function usageError(error: CommanderError): Error {
  const text = error.code === 'commander.help' ? 'A command is missing.' : sentence(error.message)
  return invalidInput('arguments', `${text} See flowfabric --help, or --help behind a command's name.`)
}

function sentence(text: string): string {
  const plain = text.replace(/^error: /, '').trim()
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}${plain.endsWith('.') ? '' : '.'}`
}
