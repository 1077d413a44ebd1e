import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { systemRuntime } from '../runtime/index.ts'
import { commandsOf } from './command-list.fixture.ts'
import { createProgram } from './program.ts'
import { Shell } from './session/shell.ts'

const COMMANDS = [
  ...['server', 'mcp', 'tokens', 'tokens create', 'tokens list', 'tokens revoke'],
  ...[
    'dev',
    'submit',
    'list',
    'logs',
    'show',
    'tail',
    'cancel',
    'replay',
    'continue',
    'why',
    'lanes',
    'doctor',
    'config',
    'backup',
    'run',
    'top',
    'completion',
    'migrate',
  ],
  ...['lanes pause', 'lanes drain', 'lanes disable', 'lanes resume', 'lanes weigh'],
  ...['lanes limit', 'lanes unlimit'],
  ...['failures', 'bulk', 'bulk cancel', 'bulk replay', 'bulk delete', 'bulk priority', 'bulk tag'],
  ...['limits', 'limits show', 'limits set', 'limits delete', 'limits hold', 'limits unhold'],
  ...['budgets', 'budgets show', 'budgets history', 'budgets raise', 'budgets reset', 'budgets freeze', 'budgets open'],
  'budgets delete',
  ...['signal', 'waitpoints', 'approve', 'resume', 'reissue', 'steps'],
  ...['codec-keys', 'codec-keys create', 'codec-keys drop', 'codec-keys list', 'codec-keys rotate'],
  'codec-sweep',
  ...['frames', 'flow', 'flow show', 'flow list', 'flow cancel', 'flow replay', 'flow seal'],
  ...['events', 'consumers', 'consumers show', 'consumers seek', 'consumers delete'],
  ...['webhooks', 'webhooks define', 'webhooks show', 'webhooks rotate', 'webhooks disable', 'webhooks enable'],
  ...['webhooks delete', 'webhooks deliveries', 'webhooks redeliver', 'webhooks deliver'],
  'audit',
  ...['keys', 'keys list', 'keys rotate', 'keys retire'],
  ...['workers', 'workers drain', 'workers dead'],
  ...[
    'schedules',
    'schedules show',
    'schedules set',
    'schedules retime',
    'schedules next',
    'schedules pause',
    'schedules resume',
  ],
  ...['schedules trigger', 'schedules backfill', 'schedules delete'],
]

const program = createProgram(new Shell(systemRuntime()), false)
const commands = commandsOf(program)
const page = await readFile(new URL('../../docs/cli.md', import.meta.url), 'utf8')

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
  return help
}

test('the program has these commands', () => {
  expect(commands.map(({ name }) => name).toSorted()).toEqual(COMMANDS.toSorted())
})

test.each(commands)(
  'the help of $name shows an example and the options that all commands take, and docs/cli.md names its own',
  ({ command, name }) => {
    const help = helpOf(command)
    const [own = ''] = help.split('Global Options:')
    const section = page.split(new RegExp(`\n###? ${name}\n`))[1]?.split(/\n###? /)[0] ?? ''

    for (const text of [help, section]) expect(text).toContain(`$ flowfabric ${name}`)
    expect(help).toContain('--store <location>')
    for (const [, option = ''] of own.matchAll(/^ +(--[a-z-]+)/gm)) expect(section).toContain(option)
  },
)

test('docs/cli.md lists every command at its top', () => {
  const [top = ''] = page.split('\n## ')

  const names = program.commands.map((command) => command.name())
  expect(names.filter((name) => !top.includes(`- [\`${name}\`](#${name}): `))).toEqual([])
})

test('docs/cli.md explains every exit code', () => {
  const codes = [...helpOf(program).matchAll(/^ +(\d+) {2}\S/gm)].map(([, code]) => code!)

  expect(codes).toHaveLength(9)
  for (const code of codes) expect(page).toMatch(new RegExp(`^\\| +${code} \\|`, 'm'))
})
