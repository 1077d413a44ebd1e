import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { COMMAND, errorIn, root, workplace } from './workplace.ts'

const INNER_COMMANDS = [
  ...['flow show', 'flow list', 'flow cancel', 'flow replay', 'flow seal'],
  ...['keys list', 'keys rotate', 'keys retire'],
]
const COMMANDS = [
  ...['dev', 'submit', 'list', 'show', 'tail', 'cancel', 'replay', 'flow', 'why', 'lanes', 'keys', 'doctor', 'migrate'],
  ...['signal', 'waitpoints', 'approve', 'resume', 'reissue', 'steps'],
  ...INNER_COMMANDS,
]

describe('help', () => {
  test('names every command, the environment and the exit codes, and needs no store', async () => {
    const place = await workplace()

    const help = await place.run(['--help'])

    expect(help).toMatchObject({ code: 0, stderr: '' })
    const files = ['FLOWFABRIC_VALKEY_PASSWORD_FILE', 'FLOWFABRIC_POSTGRES_PASSWORD_FILE', 'FLOWFABRIC_KEYS_FILE']
    const environment = ['FLOWFABRIC_STORE', 'FLOWFABRIC_NAMESPACE', ...files]
    const outermost = COMMANDS.filter((command) => !INNER_COMMANDS.includes(command))
    for (const word of [...outermost, ...environment, '--json', 'Exit codes', '130']) {
      expect(help.stdout).toContain(word)
    }
  })

  test.each(COMMANDS)('of %s shows an example and the options that all commands take', async (command) => {
    const place = await workplace()

    const help = await place.run([...command.split(' '), '--help'])

    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain(`$ flowfabric ${command}`)
    expect(help.stdout).toContain('--store <location>')
  })

  test('the version is the version of the package', async () => {
    const place = await workplace()
    expect(await place.run(['--version'])).toMatchObject({ code: 0, stdout: `${packageFile.version}\n` })
  })
})

describe('docs/cli.md', () => {
  test('has a section for every command, names its options and explains every exit code', async () => {
    const place = await workplace()
    const page = await readFile(path.join(root, 'docs/cli.md'), 'utf8')
    for (const command of COMMANDS) {
      const section = page.split(new RegExp(`\n###? ${command}\n`))[1]?.split(/\n###? /)[0] ?? ''
      const { stdout } = await place.run([...command.split(' '), '--help'])
      const own = stdout.split('Global Options:')[0] ?? ''
      const options = [...own.matchAll(/^ +(--[a-z-]+)/gm)].map(([, option]) => option!)

      expect(section, command).toContain(`$ flowfabric ${command}`)
      for (const option of options) expect(section, `${command} ${option}`).toContain(option)
    }
    const codes = [...(await place.run(['--help'])).stdout.matchAll(/^ +(\d+) {2}\S/gm)].map(([, code]) => code!)
    expect(codes).toHaveLength(9)
    for (const code of codes) expect(page).toMatch(new RegExp(`^\\| +${code} \\|`, 'm'))
  })
})

describe('wrong usage exits with 2', () => {
  test.each([
    ['no command', []],
    ['an unknown command', ['frobnicate']],
    ['an unknown option', ['list', '--frobnicate']],
    ['a missing argument', ['show']],
    ['an argument too many', ['show', 'a', 'b']],
    ['an unknown command of flow', ['flow', 'frobnicate']],
    ['a missing argument of flow', ['flow', 'replay', 'a']],
    ['an option without its value', ['list', '--lane']],
    ['two options that exclude each other', ['tail', '--from-start', '--cursor', 'e1.0']],
  ])('%s', async (_, args) => {
    const place = await workplace()

    const text = await place.run(args)
    const json = await place.run([...args, '--json'])

    expect(text).toMatchObject({ code: 2, stdout: '' })
    expect(text.stderr).toContain('--help')
    expect(json).toMatchObject({ code: 2, stdout: '' })
    expect(errorIn(json)).toMatchObject({ code: 'invalid_input', advice: expect.any(String) as unknown })
  })
})

describe('output', () => {
  test('is plain without a terminal, and nothing clutters standard error', async () => {
    const place = await workplace()
    await place.run(['submit', 'greet', '{}'])

    const list = await place.run(['list'])

    expect(list.code).toBe(0)
    expect(list.stderr).toBe('')
    expect(list.stdout).not.toContain('\u001b')
  })

  test('has colours when they are forced, and none against NO_COLOR', async () => {
    const place = await workplace()
    await place.run(['submit', 'greet', '{}'])

    const coloured = await place.run(['list'], { env: { FORCE_COLOR: '1' } })
    const plain = await place.run(['list'], { env: { NO_COLOR: '1' } })

    expect(coloured.stdout).toContain('\u001b[')
    expect(plain.stdout).not.toContain('\u001b')
  })

  test('a reader that closes the pipe ends the command quietly', async () => {
    const place = await workplace()
    for (const name of ['a', 'b']) await place.run(['submit', 'greet', '{}', '--id', name])
    // The reader takes one line and leaves; the tail would go on for ever.
    await place.write(
      'head.mjs',
      `import { spawn } from 'node:child_process'
       const [command, ...args] = process.argv.slice(2)
       const tail = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
       tail.stdout.once('data', () => {
         tail.stdout.destroy()
         const more = spawn(process.execPath, [command, 'submit', 'greet', '{}'], { stdio: 'ignore' })
         more.on('close', () => undefined)
       })
       tail.on('close', (code) => console.log('ended with', code))`,
    )

    const reader = await place.startNode(['head.mjs', COMMAND, 'tail', '--from-start']).end()

    expect(reader.stdout).toBe('ended with 0\n')
    expect(reader.stderr).toBe('')
  })
})

describe('an old Node', () => {
  test('is told which one is needed before anything else happens', async () => {
    const place = await workplace()
    const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.1.0'}})`

    const refused = await place.run(['list'], { nodeOptions: ['--import', pretend] })

    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('needs Node 22.13.0 or later, but this is Node 20.1.0')
  })
})
