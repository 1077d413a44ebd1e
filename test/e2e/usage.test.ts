import { describe, expect, test } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { COMMAND, errorIn, workplace } from './workplace.ts'

const COMMANDS = [
  ...['server', 'tokens', 'workers'],
  ...['dev', 'submit', 'list', 'show', 'tail', 'cancel', 'replay', 'flow', 'why', 'lanes', 'keys', 'doctor', 'migrate'],
  ...['limits', 'workers'],
  ...['signal', 'waitpoints', 'approve', 'resume', 'reissue', 'steps'],
]

describe('help', () => {
  test('names every command, the environment and the exit codes, and needs no store', async () => {
    const place = await workplace()

    const help = await place.run(['--help'])

    expect(help).toMatchObject({ code: 0, stderr: '' })
    const files = ['FLOWFABRIC_VALKEY_PASSWORD_FILE', 'FLOWFABRIC_POSTGRES_PASSWORD_FILE', 'FLOWFABRIC_KEYS_FILE']
    const environment = ['FLOWFABRIC_STORE', 'FLOWFABRIC_NAMESPACE', ...files]
    for (const word of [...COMMANDS, ...environment, '--json', 'Exit codes', '130']) {
      expect(help.stdout).toContain(word)
    }
  })

  test.each(['list', 'flow show'])('of %s shows an example and the options that all commands take', async (command) => {
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

describe('a token in the wrong place is not printed', () => {
  const token = `v1.k5f0c2a9b1e3d4786.${'WyIwLTAxOThmN2Ey'.repeat(8)}.${'Q'.repeat(43)}`

  test.each([
    ['as an unknown option', ['signal', 'a', 'go', `--tokn=${token}`]],
    ['as an unknown command', [token]],
    ['as one argument too many', ['signal', 'a', 'go', '1', token]],
    ['as an id', ['show', token]],
    ['as the value of another option', ['submit', 'greet', '--priority', token]],
    ['as a location', ['list', '--store', token]],
    ['as the name of a signal', ['signal', 'a', token]],
    ['as what is not JSON', ['submit', 'greet', token]],
  ])('%s', async (_where, args) => {
    const place = await workplace()

    for (const form of [[], ['--json']]) {
      const { code, stdout, stderr } = await place.run([...args, ...form])
      expect(code).not.toBe(0)
      expect(stdout + stderr).not.toContain('WyIwLTAxOThmN2Ey')
    }
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

    const [text, json] = await Promise.all([place.run(args), place.run([...args, '--json'])])

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

    const [coloured, plain] = await Promise.all([
      place.run(['list'], { env: { FORCE_COLOR: '1' } }),
      place.run(['list'], { env: { NO_COLOR: '1' } }),
    ])

    expect(coloured.stdout).toContain('\u001b[')
    expect(plain.stdout).not.toContain('\u001b')
  })

  test('a reader that closes the pipe ends the command quietly', async () => {
    const place = await workplace()
    for (const name of ['a', 'b']) await place.run(['submit', 'greet', '{}', '--id', name])
    // The reader closes the pipe after one line; the tail would run forever.
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
  test('is refused with the required version before anything else is loaded', async () => {
    const place = await workplace()
    const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.1.0'}})`

    const refused = await place.run(['list'], { nodeOptions: ['--import', pretend] })

    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('needs Node 22.13.0 or later, but this is Node 20.1.0')
  })
})
